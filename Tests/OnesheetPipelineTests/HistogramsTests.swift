import OnesheetPipeline
import XCTest

final class HistogramsTests: XCTestCase {
    func testThatADurationIsInTheFirstBucketThatHoldsIt() throws {
        let histograms = Histograms()
        // A bound belongs to its bucket; durations beyond all bounds belong to the last.
        for milliseconds in [0, 1, 2, 10_000, 10_001] { histograms.add(.milliseconds(milliseconds), to: "render") }
        let histogram = try XCTUnwrap(histograms.byName["render"])
        XCTAssertEqual(histogram.counts.count, Histogram.bounds.count + 1)
        XCTAssertEqual(histogram.counts[0], 2)
        XCTAssertEqual(histogram.counts[1], 1)
        XCTAssertEqual(histogram.counts.suffix(2), [1, 1])
        XCTAssertEqual(histogram.sum, 20.004, accuracy: 1e-9)
    }

    func testThatNamesAreKeptApart() {
        let histograms = Histograms()
        histograms.add(.seconds(1), to: "origin")
        histograms.add(.seconds(1), to: "render")
        XCTAssertEqual(histograms.byName.mapValues { $0.counts.reduce(0, +) }, ["origin": 1, "render": 1])
    }
}
