import CPNG
import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

/// The cost of files that are designed to be expensive.
final class PNGCodecCostTests: XCTestCase {
    private let drawn = DrawnPNG(kind: .rgb, depth: 8)

    private func steps(_ file: [UInt8]) throws -> Int {
        try file.withUnsafeBufferPointer { bytes in
            let reader = try XCTUnwrap(cpng_reader_make(bytes.baseAddress, bytes.count, false))
            defer { cpng_reader_free(reader) }
            var header = cpng_header()
            XCTAssertEqual(cpng_reader_header(reader, &header), CPNG_OK)
            return header.steps
        }
    }

    func testThatTwiceTheChunksAreTwiceTheWork() throws {
        for name in ["tEXt", "iTXt", "IDAT", "abCd"] {
            func file(_ count: Int) -> [UInt8] {
                let chunks = [(name: String, bytes: [UInt8])](repeating: (name, []), count: count)
                return DrawnPNG.file(
                    header: drawn.header, chunks: chunks + drawn.pictureChunks(DrawnPNG.zlib(drawn.scanlines)))
            }
            let none = try steps(file(0))
            XCTAssertEqual(try steps(file(4000)) - none, 2 * (try steps(file(2000)) - none), name)
            XCTAssertEqual(try PNGCodec().decoded(file(4000)).rgba, drawn.rgba, name)
        }
    }

    func testLargeProfileIsNone() throws {
        // Given a profile above the limit, and EXIF above its own
        func header(_ early: [(name: String, bytes: [UInt8])], _ late: [(name: String, bytes: [UInt8])] = []) throws -> ImageHeader
        {
            var drawn = drawn
            (drawn.early, drawn.late) = (early, late)
            return try PNGCodec().header(of: drawn.file.span)
        }
        func profile(_ size: Int) -> [UInt8] {
            var profile = PNGCodecHeaderTests.profile + [UInt8](repeating: 0, count: size - PNGCodecHeaderTests.profile.count)
            profile.replaceSubrange(0..<4, with: DrawnPNG.number(size))
            return profile
        }
        let (largest, tooLarge) = (profile(ImageHeader.largestProfile), profile(ImageHeader.largestProfile + 4))
        // When, then
        XCTAssertEqual(try header([PNGCodecHeaderTests.profileChunk(largest)]).colors, .icc(largest))
        XCTAssertEqual(try header([PNGCodecHeaderTests.profileChunk(tooLarge)]).colors, .sRGB)
        // Larger EXIF is parsed for its orientation and not kept
        let exif = PNGCodecHeaderTests.exif(6) + [UInt8](repeating: 0, count: ImageHeader.largestEXIF)
        let turned = try header([], [("eXIf", exif)])
        XCTAssertEqual(turned.orientation, .right)
        XCTAssertNil(turned.exif)
        XCTAssertNotNil(try header([], [("eXIf", PNGCodecHeaderTests.exif(6))]).exif)
    }

    func testThatDecodingEndsWhenTimeIsUp() throws {
        for isInterlaced in [false, true] {
            for codec in [PNGCodec(), PNGCodec(onlyLibpng: true)] {
                // Given a picture of very short rows: the rows dominate the time
                let file = DrawnPNG(kind: .gray, depth: 8, width: 1, height: 8000, isInterlaced: isInterlaced).file
                let all = LookedAtClock()
                _ = try codec.decoded(file, DecodeRequest(deadline: all.deadline(after: .max)))
                XCTAssertGreaterThanOrEqual(all.looks, 7)
                for looks in [0, all.looks - 1] {
                    // When, then
                    XCTAssertThrowsError(
                        try codec.decoded(file, DecodeRequest(deadline: LookedAtClock().deadline(after: looks)))
                    ) {
                        XCTAssertEqual($0 as? CodecError, .timedOut)
                    }
                }
            }
        }
    }

    func testThatEncodingEndsWhenTimeIsUp() throws {
        let picture = try DrawnPoster(width: 200, height: 300).draw()
        let all = LookedAtClock()
        _ = try PNGCodec().encode(picture, EncodeOptions(deadline: all.deadline(after: .max)))
        XCTAssertGreaterThanOrEqual(all.looks, 2)
        for looks in [0, all.looks - 1] {
            XCTAssertThrowsError(
                try PNGCodec().encode(picture, EncodeOptions(deadline: LookedAtClock().deadline(after: looks)))
            ) {
                XCTAssertEqual($0 as? CodecError, .timedOut)
            }
        }
    }

    func testThatDecodingEndsInTheMiddleOfARow() throws {
        // Given 2 MB of blocks without contents before the first row
        let empty = (0..<400_000).flatMap { _ -> [UInt8] in [0, 0, 0, 0xFF, 0xFF] }
        let picture = DrawnPNG(kind: .gray, depth: 8, width: 1000, height: 100)
        let rows = [UInt8](repeating: 0, count: 1001 * 100)
        let stream = [0x78, 0x01] + empty + (try DrawnPNG.deflated(rows, level: 6).dropFirst(2))
        let file = DrawnPNG.file(header: picture.header, chunks: picture.pictureChunks(stream))

        // When, then
        let all = LookedAtClock()
        XCTAssertEqual(try PNGCodec().decoded(file, DecodeRequest(deadline: all.deadline(after: .max))).rows.count, 1)
        XCTAssertGreaterThan(all.looks, 30)
        var sink = RowCollector()
        XCTAssertThrowsError(
            try PNGCodec().decode(file.span, DecodeRequest(deadline: LookedAtClock().deadline(after: 20)), into: &sink)
        ) {
            XCTAssertEqual($0 as? CodecError, .timedOut)
        }
        XCTAssertEqual(sink.rows, [])
    }

    func testManyEmptyChunksEndWhenTimeIsUp() throws {
        // Given 2,000 chunks without contents within the stream
        let empty = [(name: String, bytes: [UInt8])](repeating: ("IDAT", []), count: 2000)
        let stream = DrawnPNG.zlib(drawn.scanlines)
        let file = DrawnPNG.file(
            header: drawn.header, chunks: [("IDAT", Array(stream[..<10]))] + empty + [("IDAT", Array(stream[10...]))])

        for isLate in [false, true] {
            try file.withUnsafeBufferPointer { bytes in
                let reader = try XCTUnwrap(cpng_reader_make(bytes.baseAddress, bytes.count, false))
                defer { cpng_reader_free(reader) }
                var header = cpng_header()
                XCTAssertEqual(cpng_reader_header(reader, &header), CPNG_OK)
                XCTAssertEqual(cpng_reader_start_fast(reader), CPNG_OK)
                // When
                var row: UnsafePointer<UInt8>?
                let watch = isLate ? cpng_watch(may_go_on: { _ in false }, context: nil) : cpng_watch()
                // Then
                XCTAssertEqual(cpng_reader_next_row(reader, watch, &row), isLate ? CPNG_TIMED_OUT : CPNG_OK)
            }
        }
    }

    func testThatMemoryIsToldForEachWayOfDecoding() {
        func memory(_ width: Int, _ height: Int, isInterlaced: Bool = false) -> Int {
            PNGCodec().memoryToDecode(
                ImageHeader(format: .png, width: width, height: height, model: .rgb, hasAlpha: true, isProgressive: isInterlaced))
        }
        // Only rows are in memory, however high the picture is: of 16 bits, filtered, the one above, and of 8 bits
        XCTAssertEqual(memory(1000, 100), memory(1000, 60_000))
        XCTAssertGreaterThan(memory(1000, 100), 1000 * 8 * 3 + 1000 * 4 + 32768 + 65536)
        XCTAssertGreaterThan(memory(100_000, 100), 100_000 * 8 * 3 + 100_000 * 4 + 32768)
        XCTAssertLessThan(memory(6000, 9000), 1 << 20)
        // An interlaced picture is stored, each row with its padding
        XCTAssertGreaterThan(memory(1, 30_000_000, isInterlaced: true), 64 * 30_000_000)
    }
}
