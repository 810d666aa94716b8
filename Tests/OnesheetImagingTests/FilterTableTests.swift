import CImaging
import OnesheetCore
import XCTest

@testable import OnesheetImaging

final class FilterTableTests: XCTestCase {
    private func table(_ samples: Int, _ outputs: Int, start: Double = 0, length: Double? = nil) throws -> FilterTable {
        try FilterTable(
            ResamplingWindow(start: start, length: length ?? Double(samples), outputs: outputs, bounds: 0..<samples),
            samples: samples,
            step: 8)
    }

    func testThatWeightsAddUpToExactlyOne() throws {
        for (samples, outputs) in [(1, 1), (7, 3), (1000, 342), (9, 40), (30_000, 2), (65_000, 1)] {
            let table = try table(samples, outputs)
            for index in 0..<outputs {
                let sum = table.weights[index * table.taps..<(index + 1) * table.taps].reduce(0) { $0 + Int($1) }
                XCTAssertEqual(sum, 1 << 14, "\(samples) to \(outputs), \(index)")
            }
        }
    }

    func testThatNoWindowPassesTheEndOfTheRow() throws {
        for (samples, outputs) in [(64, 31), (1000, 342), (40, 90), (501, 3)] {
            let table = try table(samples, outputs)
            guard table.taps <= samples else { continue }
            for start in table.starts { XCTAssertLessThanOrEqual(Int(start) + table.taps, samples) }
        }
    }

    func testThatEveryOrderOfWeightsGivesTheSameSamples() throws {
        // Given windows that are short, long and at an edge, of a row and of a part of it
        for (samples, outputs) in [
            (1000, 342), (1250, 780), (500, 154), (64, 31), (40, 90), (97, 8), (97, 21), (30, 29), (1000, 9), (33, 7), (9, 40),
            (1400, 300),
        ] {
            for part in [0..<samples, samples / 5..<samples - samples / 7] {
                let table = try FilterTable(
                    ResamplingWindow(
                        start: Double(part.lowerBound) + 0.3, length: Double(part.count) - 0.5, outputs: outputs, bounds: part),
                    samples: samples, step: Int(CK_TAPS))
                let row = (0..<max(samples, table.taps)).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 ^ $0 >> 2) }
                // When
                var made = [Int16](repeating: 0, count: outputs)
                table.withAxis { ck_across_u8(row, &made, $0) }
                // Then
                let sums = (0..<outputs).map { output in
                    (0..<table.taps).reduce(1 << 7) {
                        $0 + Int(table.weights[output * table.taps + $1]) * Int(row[Int(table.starts[output]) + $1])
                    } >> 8
                }
                XCTAssertEqual(made.map(Int.init), sums, "\(samples) to \(outputs), \(part)")
                // When
                let light = (0..<row.count + 64).map { Int16(truncatingIfNeeded: ($0 &* $0 &* 977 ^ $0) % 16_321) }
                table.withAxis { ck_across_i16(light, &made, $0) }
                // Then
                let means = (0..<outputs).map { output in
                    (0..<table.taps).reduce(1 << 13) {
                        $0 + Int(table.weights[output * table.taps + $1]) * Int(light[Int(table.starts[output]) + $1])
                    } >> 14
                }
                XCTAssertEqual(made.map(Int.init), means, "light, \(samples) to \(outputs), \(part)")
                XCTAssertLessThanOrEqual(
                    table.bytes, FilterTable.bytes(outputs: outputs, taps: table.taps, isArranged: true), "\(samples) to \(outputs)"
                )
            }
        }
    }

    func testThatRowsOfAnyWidthAreAddedUp() {
        let weights: [Int16] = [-900, 9000, 9184, -900]
        for width in [1, 15, 16, 17, 31, 32, 33, 64, 79, 100] {
            // Given
            let samples = (0..<4 * width).map { Int16($0 * 977 % 20_000 - 1500) }
            var bytes = [UInt8](repeating: 0, count: width)
            var words = [Int16](repeating: 0, count: width)
            // When
            samples.withUnsafeBufferPointer { samples in
                let rows = (0..<4).map { row in samples.baseAddress.map { $0 + row * width } }
                ck_down_u8(rows, weights, 4, &bytes, Int32(width))
                ck_down_i16(rows, weights, 4, &words, Int32(width))
            }
            // Then
            for x in 0..<width {
                let sum = (0..<4).reduce(0) { sum, row in sum + Int(weights[row]) * Int(samples[row * width + x]) }
                XCTAssertEqual(Int(words[x]), (sum + 8192) >> 14, "\(x) of \(width)")
                XCTAssertEqual(Int(bytes[x]), min(max((sum + 524_288) >> 20, 0), 255), "\(x) of \(width)")
            }
        }
    }

    func testThatKeepingTheSizeCopies() throws {
        let table = try table(20, 20)
        for index in 0..<20 {
            for tap in 0..<table.taps {
                XCTAssertEqual(table.weights[index * table.taps + tap], Int(table.starts[index]) + tap == index ? 1 << 14 : 0)
            }
        }
    }

    func testThatASumOfManyRowsIsAsTheReference() throws {
        // Given more rows per output than a ring would hold
        let picture = try tall()
        // When
        let outcome = try picture.resampledForTest(to: Size(width: 3, height: 2))
        // Then the result is the average of each half, except for the overlap of the kernel
        XCTAssertEqual(Double(outcome[0]), 63, accuracy: 8)
        XCTAssertEqual(Double(outcome[1]), 192, accuracy: 8)
    }

    private func tall() throws -> PixelBuffer {
        var picture = try PixelBuffer(PixelLayout(width: 6, height: 2048, model: .gray), limits: Limits())
        for y in 0..<2048 { picture.withMutableRow(y) { row in for x in 0..<6 { row[x] = UInt8(y / 8) } } }
        return picture
    }
}

extension PixelBuffer {
    /// The first column of this picture in another size.
    fileprivate borrowing func resampledForTest(to size: Size) throws -> [UInt8] {
        var picture = try PixelBuffer(PixelLayout(width: size.width, height: size.height, model: .gray), limits: Limits())
        func resampling(_ samples: Int, _ outputs: Int) -> ResamplingWindow {
            ResamplingWindow(start: 0, length: Double(samples), outputs: outputs, bounds: 0..<samples)
        }
        let resampler = try PlaneResampler(
            across: resampling(layout.width, size.width), down: resampling(layout.height, size.height), tables: FilterTableCache(),
            channels: 1,
            hasAlpha: false, scale: nil, target: picture.withMutablePlane(0) { $0 }, stride: picture.stride(of: 0),
            width: layout.width,
            height: layout.height)
        let stride = stride(of: 0)
        withPlane(0) { from in
            for y in 0..<layout.height { resampler.add(from + y * stride, y: y) }
        }
        XCTAssertTrue(resampler.isComplete)
        return (0..<size.height).map { y in picture.withRow(y) { $0[0] } }
    }
}
