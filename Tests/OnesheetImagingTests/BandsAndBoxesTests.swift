import OnesheetCore
import XCTest

@testable import OnesheetImaging

/// Pictures so tall that neither their tables nor their rows fit in memory.
final class BandsAndBoxesTests: XCTestCase {
    private func resampling(
        _ samples: Int, _ outputs: Int, start: Double = 0, length: Double? = nil, bounds: Range<Int>? = nil
    ) -> ResamplingWindow {
        ResamplingWindow(start: start, length: length ?? Double(samples), outputs: outputs, bounds: bounds ?? 0..<samples)
    }

    func testThatBandsAreTheTableInPieces() throws {
        for (samples, outputs) in [(5000, 5000), (3000, 9001), (20_000, 5000), (3, 5000)] {
            // Given
            let resampling = resampling(samples, outputs)
            let bands = try FilterTableBands(resampling, samples: samples, tables: FilterTableCache(), by: .never)
            let whole = FilterTable(resampling, 0..<outputs, taps: bands.taps, samples: samples) {}
            // Then each output has the same rows and weights, and at most one band exists at a time
            for index in 0..<outputs {
                let rows = bands.rows(of: index)
                guard rows.start == Int(whole.starts[index]), rows.end == Int(whole.ends[index]) else {
                    return XCTFail("\(samples) to \(outputs): rows of \(index)")
                }
                var isSame = false
                bands.withWeights(of: index) { weights in
                    isSame = (0..<bands.taps).allSatisfy { weights[$0] == whole.weights[index * bands.taps + $0] }
                }
                guard isSame else { return XCTFail("\(samples) to \(outputs): weights of \(index)") }
            }
            XCTAssertLessThanOrEqual(bands.bytes, FilterTable.bytes(outputs: FilterTableBands.length, taps: bands.taps))
        }
    }

    func testThatBoxesLeaveAFewSamplesToEachOutputHoweverManyThereWere() {
        for samples in [10_000, 1_000_000, 31_000_000] {
            let resampling = resampling(samples, 100)
            let boxed = resampling.inBoxes(resampling.boxes ?? 0)
            XCTAssertGreaterThanOrEqual(boxed.scale, 8)
            XCTAssertLessThan(boxed.scale, 12)
            XCTAssertLessThan(boxed.tapsAtMost, 80)
        }
        XCTAssertNil(resampling(3000, 100).boxes)
        // The sums limit the size of a box.
        XCTAssertEqual(resampling(31_000_000, 1).boxes, 31_000_000 / (1 << 15) + 1)
    }

    /// Rows of a picture according to `sample`, resampled to `outputs` rows and one column.
    private func resampled(
        _ rows: Int, to outputs: Int, down: ResamplingWindow, width: Int = 3, hasAlpha: Bool = false,
        _ sample: (_ y: Int) -> [UInt8]
    ) throws -> [[UInt8]] {
        let channels = hasAlpha ? 2 : 1
        let layout = PixelLayout(width: 1, height: outputs, model: .gray, hasAlpha: hasAlpha)
        var picture = try PixelBuffer(layout, limits: Limits())
        let resampler = try PlaneResampler(
            across: resampling(width, 1), down: down, tables: FilterTableCache(), channels: channels, hasAlpha: hasAlpha,
            scale: hasAlpha ? .stored : nil, target: picture.withMutablePlane(0) { $0 }, stride: picture.stride(of: 0),
            width: width, height: rows)
        for y in 0..<rows {
            // Kernels read whole vectors.
            let row = (0..<width).flatMap { _ in sample(y) } + [UInt8](repeating: 0, count: 64)
            resampler.add(row, y: y)
        }
        XCTAssertTrue(resampler.isComplete)
        return (0..<outputs).map { y in picture.withRow(y) { row in (0..<channels).map { row[$0] } } }
    }

    func testThatEachRowIsInOneBoxAndAllBoxesAreAlike() {
        for (rows, count) in [(300, 17), (1000, 250), (1001, 250), (7, 7), (5, 1), (32_768, 1)] {
            // Given rows that start anywhere
            let boxes = RowBoxes(count, of: 10..<10 + rows, channels: 1, width: 1)
            // When
            let places = (0..<rows + 20).map { boxes.box(of: $0) }
            // Then
            XCTAssertEqual(places.prefix(10), [Int?](repeating: nil, count: 10)[...])
            let sizes = Dictionary(grouping: places.compactMap { $0 }) { $0 }.mapValues(\.count)
            XCTAssertEqual(sizes.keys.sorted(), Array(0..<count))
            XCTAssertEqual(sizes.values.reduce(0, +), rows)
            XCTAssertLessThanOrEqual((sizes.values.max() ?? 0) - (sizes.values.min() ?? 0), 1)
            XCTAssertEqual(places.compactMap { $0 }, places.compactMap { $0 }.sorted())
        }
    }

    func testThatASlopeStaysASlope() throws {
        for (rows, outputs) in [(10_000, 10), (20_001, 100), (3333, 7), (4096, 128)] {
            let down = resampling(rows, outputs)
            XCTAssertNotNil(down.boxes)
            let outcome = try resampled(rows, to: outputs, down: down) { [UInt8($0 * 256 / rows)] }
            for y in 1..<max(outputs - 1, 1) {
                let middle = (Double(y) + 0.5) * 256 / Double(outputs)
                XCTAssertEqual(Double(outcome[y][0]), middle, accuracy: 1.5, "\(rows) to \(outputs), row \(y)")
            }
        }
    }

    func testThatAnEvenPictureStaysEven() throws {
        for value in [0, 1, 127, 254, 255] as [UInt8] {
            let outcome = try resampled(5003, to: 11, down: resampling(5003, 11)) { _ in [value] }
            XCTAssertEqual(outcome, [[UInt8]](repeating: [value], count: 11))
        }
    }

    func testThatRowsBesideThePartAreNotSeen() throws {
        // Given a part that starts and ends within a box, with another colour around it
        let part = 1237..<9871
        let down = resampling(12_000, 10, start: Double(part.lowerBound), length: Double(part.count), bounds: part)
        // When
        let outcome = try resampled(12_000, to: 10, down: down) { part.contains($0) ? [90] : [255] }
        // Then
        XCTAssertEqual(outcome, [[UInt8]](repeating: [90], count: 10))
    }

    func testThatClearRowsLendNoColour() throws {
        // Given rows of which every other one is transparent white
        let outcome = try resampled(8000, to: 10, down: resampling(8000, 10), hasAlpha: true) {
            $0 % 2 == 0 ? [255, 0] : [80, 200]
        }
        // Then
        for pixel in outcome {
            XCTAssertEqual(Int(pixel[0]), 80, accuracy: 1)
            XCTAssertEqual(Int(pixel[1]), 100, accuracy: 1)
        }
    }

    func testThatTablesAreKeptByWhatTheyTake() throws {
        // Given many tables of increasing size
        let tables = FilterTableCache()
        for samples in stride(from: 1000, to: 16_000, by: 100) {
            _ = try tables.table(resampling(samples, 500), samples: samples, step: 8, by: .never)
            XCTAssertLessThanOrEqual(tables.bytes, FilterTableCache.limit)
        }
        XCTAssertGreaterThan(tables.bytes, FilterTableCache.limit / 2)
        // Then a very large one is made and not stored
        let before = tables.bytes
        _ = try tables.table(resampling(100_000, 30_000), samples: 100_000, step: 8, by: .never)
        XCTAssertEqual(tables.bytes, before)
    }

    func testThatABlurOfAnySizeTakesABoundedTable() throws {
        for (width, height) in [(10, 200_000), (200_000, 10), (16, 16), (300, 200), (2, 3000)] {
            for deviation in [0.3, 8, 8.1, 100, 1e9] {
                // When
                let small = PixelBuffer.sizeToBlur(Size(width: width, height: height), deviation)
                // Then a long side is reduced for a wide Gaussian, and no side has grown
                XCTAssertLessThanOrEqual(small.width, width)
                XCTAssertLessThanOrEqual(small.height, height)
                for (side, of) in [(small.width, width), (small.height, height)] where deviation > 8 && of > 16 {
                    XCTAssertEqual(Double(side), max(Double(of) / (min(deviation, 1000) / 4), 4), accuracy: 1)
                }
            }
        }
        // And an even picture stays even, however narrow
        for (width, height) in [(3, 500), (500, 3), (20, 20)] {
            var picture = try PixelBuffer(PixelLayout(width: width, height: height, model: .gray), limits: Limits())
            for y in 0..<height { picture.withMutableRow(y) { row in for x in 0..<width { row[x] = 77 } } }
            let soft = try picture.blurred(500, tables: FilterTableCache(), limits: Limits(), by: .never)
            for y in 0..<height { soft.withRow(y) { row in for x in 0..<width { XCTAssertEqual(row[x], 77) } } }
        }
    }
}
