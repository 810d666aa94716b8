import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

/// Pixels of every kind of PNG, compared with independent files and expectations.
final class PNGCodecDecodeTests: XCTestCase {
    private let codecs = ["fast": PNGCodec(), "libpng": PNGCodec(onlyLibpng: true)]

    func testThatEveryColourTypeAndDepthIsDecodedExactly() throws {
        for drawn in DrawnPNG.everyKind {
            for (path, codec) in codecs {
                // Given
                let file = drawn.file

                // When
                let sink = try codec.decoded(file)

                // Then
                XCTAssertEqual(sink.rgba, drawn.rgba, "\(drawn.name), \(path)")
            }
        }
    }

    func testThatInterlacedFilesGiveTheSamePixels() throws {
        for var drawn in DrawnPNG.everyKind {
            for (width, height) in [(13, 11), (1, 1), (3, 2), (5, 1), (1, 6), (8, 8), (33, 17)] {
                // Given
                drawn.isInterlaced = true
                (drawn.width, drawn.height) = (width, height)

                // When
                let sink = try PNGCodec().decoded(drawn.file)

                // Then
                XCTAssertEqual(sink.rgba, drawn.rgba, "\(drawn.name) \(width) × \(height)")
            }
        }
    }

    func testThatEachFilterIsTakenAwayInEveryRow() throws {
        for var drawn in DrawnPNG.everyKind where drawn.depth >= 8 {
            for filter in 0...4 {
                for (width, height) in [(1, 4), (2, 3), (3, 3), (4, 1), (17, 5), (64, 3)] {
                    for (path, codec) in codecs {
                        // Given
                        drawn.filters = [filter]
                        (drawn.width, drawn.height) = (width, height)

                        // When
                        let sink = try codec.decoded(drawn.file)

                        // Then
                        XCTAssertEqual(sink.rgba, drawn.rgba, "\(drawn.name), filter \(filter), \(width) × \(height), \(path)")
                    }
                }
            }
        }
    }

    func testThatEverySequenceOfTwoFiltersIsTakenAway() throws {
        for filters in (0..<25).map({ [$0 / 5, $0 % 5] }) {
            // Given
            let drawn = DrawnPNG(kind: .rgb, depth: 8, width: 21, height: 9, filters: filters)

            // When
            let sink = try PNGCodec().decoded(drawn.file)

            // Then
            XCTAssertEqual(sink.rgba, drawn.rgba, "\(filters)")
        }
    }

    func testThatPicturesMayComeInManyPieces() throws {
        for split in [1, 2, 7, 100] {
            for (path, codec) in codecs {
                // Given
                let drawn = DrawnPNG(kind: .rgba, depth: 8, split: split)

                // When
                let sink = try codec.decoded(drawn.file)

                // Then
                XCTAssertEqual(sink.rgba, drawn.rgba, "\(split) bytes per IDAT, \(path)")
            }
        }
    }

    func testThatOfAnAnimationTheDefaultPictureIsDecoded() throws {
        for (path, codec) in codecs {
            // Given
            var drawn = DrawnPNG(kind: .rgb, depth: 8)
            drawn.early = [("acTL", [0, 0, 0, 2, 0, 0, 0, 0]), ("fcTL", [UInt8](repeating: 0, count: 26))]
            drawn.late = [("fcTL", [UInt8](repeating: 1, count: 26)), ("fdAT", [0, 0, 0, 2] + DrawnPNG.zlib([1, 2, 3]))]

            // When
            let sink = try codec.decoded(drawn.file)

            // Then
            XCTAssertEqual(sink.rgba, drawn.rgba, path)
        }
    }

    func testThatAPaletteMayBeShorterThanItsDepthAllows() throws {
        for (path, codec) in codecs {
            // Given
            let drawn = DrawnPNG(kind: .palette, depth: 8, palette: [[9, 8, 7], [1, 2, 3], [250, 4, 100]])

            // When
            let sink = try codec.decoded(drawn.file)

            // Then
            XCTAssertEqual(sink.rgba, drawn.rgba, path)
        }
    }

    func testThatRowsComeBeforeTheWholeFileIsRead() throws {
        // Given
        let file = DrawnPNG(kind: .rgb, depth: 16, width: 40, height: 40, split: 500).file
        let half = Array(file[..<(file.count / 2)])
        var sink = RowCollector()

        // When
        XCTAssertThrowsError(try PNGCodec().decode(half.span, DecodeRequest(), into: &sink)) {
            // Then
            XCTAssertEqual($0 as? CodecError, .truncated)
        }
        XCTAssertGreaterThan(sink.rows.first ?? 0, 10)
    }
}

extension PNGCodec {
    func decoded(_ file: [UInt8], _ request: DecodeRequest = DecodeRequest()) throws(CodecError) -> RowCollector {
        var sink = RowCollector()
        try decode(file.span, request, into: &sink)
        return sink
    }
}
