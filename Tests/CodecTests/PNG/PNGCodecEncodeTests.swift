import NIOCore
import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

/// The kind of the written file, and its losslessness.
final class PNGCodecEncodeTests: XCTestCase {
    private func encoded(
        _ model: ColorModel, alpha: Bool = false, _ options: EncodeOptions = EncodeOptions(), width: Int = 40, height: Int = 30,
        _ pixel: (Int, Int) -> [UInt8]
    ) throws -> (kind: Int, depth: Int, file: [UInt8]) {
        var picture = try PixelBuffer(PixelLayout(width: width, height: height, model: model, hasAlpha: alpha), limits: Limits())
        var expected = RowCollector()
        try expected.begin(picture.layout)
        for y in 0..<height {
            let row = (0..<width).flatMap { pixel($0, y) }
            picture.withMutableRow(y) { samples in for place in row.indices { samples[place] = row[place] } }
            try expected.row(row.span, plane: 0, y: y)
        }
        let file = Array(try PNGCodec().encode(picture, options).readableBytesView)
        for codec in [PNGCodec(), PNGCodec(onlyLibpng: true)] {
            XCTAssertEqual(try codec.decoded(file).rgba, expected.rgba, "something is lost")
        }
        return (Int(file[25]), Int(file[24]), file)
    }

    func testThatColoursAreWrittenAsRGB() throws {
        let made = try encoded(.rgb) { [UInt8($0 * 6), UInt8($1 * 8), UInt8($0 + $1)] }
        XCTAssertEqual([made.kind, made.depth], [2, 8])
    }

    func testThatAlphaThatIsUsedIsWritten() throws {
        let made = try encoded(.rgb, alpha: true) { [UInt8($0 * 6), UInt8($1 * 8), UInt8($0 + $1), UInt8($0)] }
        XCTAssertEqual([made.kind, made.depth], [6, 8])
    }

    func testThatAlphaThatIsOpaqueIsLeftOut() throws {
        let made = try encoded(.rgb, alpha: true) { [UInt8($0 * 6), UInt8($1 * 8), UInt8($0 + $1), 255] }
        XCTAssertEqual([made.kind, made.depth], [2, 8])
    }

    func testThatGrayColoursAreWrittenAsGray() throws {
        let made = try encoded(.rgb) { x, y in [UInt8](repeating: UInt8(x * 5 + y), count: 3) }
        XCTAssertEqual([made.kind, made.depth], [0, 8])
    }

    func testThatGrayColoursWithAlphaAreWrittenAsGrayWithAlpha() throws {
        let made = try encoded(.rgb, alpha: true) { x, y in [UInt8](repeating: UInt8(x * 5), count: 3) + [UInt8(y * 8)] }
        XCTAssertEqual([made.kind, made.depth], [4, 8])
    }

    func testThatGrayWithOpaqueAlphaIsWrittenAsGray() throws {
        let made = try encoded(.gray, alpha: true) { x, y in [UInt8(x * 5 + y), 255] }
        XCTAssertEqual([made.kind, made.depth], [0, 8])
    }

    func testThatGraysThatFitTakeFewerBits() throws {
        for (depth, step) in [(1, 255), (2, 85), (4, 17)] {
            let made = try encoded(.gray, width: 13) { x, y in [UInt8((x + y) % (1 << depth) * step)] }
            XCTAssertEqual([made.kind, made.depth], [0, depth])
        }
    }

    func testThatFewGraysThatDoNotFitTakeAPalette() throws {
        let made = try encoded(.gray) { x, y in [UInt8((x + y) % 3 * 50 + 7)] }
        XCTAssertEqual([made.kind, made.depth], [3, 2])
    }

    func testThatFewColoursTakeAPaletteOfTheirDepth() throws {
        for (depth, colors) in [(1, 2), (2, 4), (4, 16), (8, 256)] {
            let made = try encoded(.rgb, width: 37, height: 41) { x, y in
                let index = (x * 7 + y * 37) % colors
                return [UInt8(index), UInt8(255 - index), UInt8(index * 3 % 256)]
            }
            XCTAssertEqual([made.kind, made.depth], [3, depth], "\(colors) colours")
        }
    }

    func testThatOneColourMoreThanAPaletteHoldsIsRGB() throws {
        let made = try encoded(.rgb, width: 257, height: 20) { x, _ in [UInt8(x & 255), UInt8(x >> 8), 7] }
        XCTAssertEqual([made.kind, made.depth], [2, 8])
    }

    func testThatAPaletteNamesTransparentColoursFirst() throws {
        // When
        let made = try encoded(.rgb, alpha: true) { x, _ in x < 20 ? [200, 100, 50, 255] : [0, 0, 9, UInt8(x % 2)] }

        // Then
        XCTAssertEqual(made.kind, 3)
        XCTAssertTrue(made.file.starts(with: DrawnPNG.chunk("PLTE", [0, 0, 9, 0, 0, 9, 200, 100, 50]), at: 33))
        XCTAssertTrue(made.file.starts(with: DrawnPNG.chunk("tRNS", [0, 1]), at: 33 + 21))
    }

    func testThatTransparentPixelsKeepTheirColours() throws {
        let made = try encoded(.rgb, alpha: true) { x, y in [UInt8(x), UInt8(y), 9, 0] }
        XCTAssertEqual(made.kind, 6)
    }

    func testThatAPictureOfOnePixelIsNoPalette() throws {
        let made = try encoded(.rgb, width: 1, height: 1) { _, _ in [1, 2, 3] }
        XCTAssertEqual([made.kind, made.depth], [2, 8])
    }

    func testThatEveryEffortLosesNothing() throws {
        for effort in 0...9 {
            _ = try encoded(.rgb, EncodeOptions(effort: effort)) { [UInt8($0 * 6), UInt8($1 * 8), UInt8($0 ^ $1)] }
        }
    }

    func testThatMoreEffortMakesASmallerFile() throws {
        // Given
        func size(_ effort: Int) throws -> Int {
            try encoded(.rgb, EncodeOptions(effort: effort), width: 200, height: 150) { x, y in
                [UInt8((x * x / 40 + y) & 255), UInt8((y * 3 + x / 2) & 255), UInt8((x * y / 60) & 255)]
            }.file.count
        }

        // Then
        XCTAssertLessThan(try size(6), try size(0))
        XCTAssertLessThanOrEqual(try size(9), try size(6))
    }

    func testThatAProfileForRGBKeepsGrayPixelsOutOfGray() throws {
        // Given
        let options = EncodeOptions(profile: PNGCodecHeaderTests.profile)

        // When
        let made = try encoded(.gray, options) { x, y in [UInt8(x * 5 + y)] }

        // Then
        XCTAssertNotEqual(made.kind, 0)
        XCTAssertEqual(try PNGCodec().header(of: made.file.span).colors, .icc(PNGCodecHeaderTests.profile))
    }

    func testThatAGrayProfileInColoursIsRefused() throws {
        // Given
        var gray = PNGCodecHeaderTests.profile
        gray.replaceSubrange(16..<20, with: Array("GRAY".utf8))

        // Then
        XCTAssertThrowsError(try encoded(.rgb, EncodeOptions(profile: gray)) { [UInt8($0), UInt8($1), 9] }) {
            XCTAssertEqual($0 as? CodecError, .unsupported("a gray profile in a coloured picture"))
        }
    }
}

extension [UInt8] {
    fileprivate func starts(with bytes: [UInt8], at place: Int) -> Bool { self[place...].starts(with: bytes) }
}
