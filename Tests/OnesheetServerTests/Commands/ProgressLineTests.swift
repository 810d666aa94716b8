import XCTest

@testable import OnesheetPipeline
@testable import OnesheetServer

final class ProgressLineTests: XCTestCase {
    func testThatTheLineSaysCountRateTimeLeftAndFailures() {
        // Given half of the work done in ten seconds, and some that was there
        var summary = PrefetchSummary(total: 120)
        (summary.made, summary.skipped) = (48, 20)
        summary.failures = [.init(title: "a://1", variants: 2, reason: "")]
        // When it is shown
        let line = ProgressLine.line(summary, elapsed: 10, bar: true)
        // Then what was there does not count for the rate
        XCTAssertEqual(line, "[#################             ] 70/120  5.0/s  10 s left  2 failed")
    }

    func testThatWithoutABarTheLineIsPlain() {
        XCTAssertEqual(ProgressLine.line(PrefetchSummary(total: 4), elapsed: 0, bar: false), "0/4  0.0/s  …  0 failed")
    }
}
