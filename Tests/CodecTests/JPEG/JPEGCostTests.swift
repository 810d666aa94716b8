import CJPEG
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import JPEGCodec

/// The cost of files that are designed to be expensive.
final class JPEGCostTests: XCTestCase {
    private let codec = JPEGCodec()

    /// A small file with `count` empty segments after its first two bytes.
    private func file(segments count: Int, marker: UInt8 = 0xE1, isProgressive: Bool = false) throws -> [UInt8] {
        let file = try WrittenJPEG(CJPEG_YCBCR) { $0.isProgressive = isProgressive }
            .file(try DrawnPoster(width: 16, height: 16).draw(planes: (1, 1)))
        let segments = [[UInt8]](repeating: [0xFF, marker, 0, 2], count: count).joined()
        return Array(file[..<2] + segments + file[2...])
    }

    /// The cost of reading a header: examined positions, and segments that the library walks past.
    private func steps(_ file: [UInt8]) throws -> Int {
        try file.withUnsafeBufferPointer { bytes in
            let reader = try XCTUnwrap(cjpeg_reader_new(bytes.baseAddress, bytes.count))
            defer { cjpeg_reader_free(reader) }
            var header = cjpeg_header()
            XCTAssertEqual(cjpeg_read_header(reader, &header), CJPEG_OK)
            return header.steps
        }
    }

    func testThatTwiceTheSegmentsAreTwiceTheWork() throws {
        // EXIF, profiles, Adobe's segment, comments, and restart intervals.
        for marker in [UInt8]([0xE0, 0xE1, 0xE2, 0xEE, 0xFE]) {
            let none = try steps(file(segments: 0, marker: marker))
            let some = try steps(file(segments: 10_000, marker: marker)) - none
            let twice = try steps(file(segments: 20_000, marker: marker)) - none
            XCTAssertEqual(twice, 2 * some, "marker \(marker)")
            XCTAssertLessThanOrEqual(some, 3 * 10_000, "marker \(marker)")
        }
    }

    func testThatAQuarterOfAMillionEmptySegmentsArePassedOver() throws {
        // Given a file of a megabyte of segments, with its metadata at the end
        let picture = try DrawnPoster(width: 16, height: 16).draw()
        let body = try codec.encode(
            picture, EncodeOptions(profile: DrawnProfile.displayP3, exif: EXIF.tiff(copyright: "A. Painter")))
        let small = Array(body.readableBytesView)
        let bytes = small[..<2] + [[UInt8]](repeating: [0xFF, 0xE1, 0, 2], count: 250_000).joined() + small[2...]
        // When
        let header = try codec.header(of: Array(bytes).span)
        // Then
        XCTAssertEqual(header.colors, .icc(DrawnProfile.displayP3))
        XCTAssertEqual(header.copyright, "A. Painter")
        assertImagesSimilar(try codec.picture(Array(bytes)), try codec.picture(small), within: 0)
    }

    func testThatMoreSegmentsThanAnyoneWritesAreRefused() throws {
        let bytes = try file(segments: (1 << 20) + 1)
        XCTAssertThrowsError(try header(bytes)) {
            XCTAssertEqual($0 as? CodecError, .unsupported("more than 1048576 segments before the picture"))
        }
    }

    private func header(_ bytes: [UInt8]) throws -> ImageHeader { try codec.header(of: bytes.span) }

    /// The pieces of a profile, each of the largest segment size.
    private func file(profile size: Int) throws -> [UInt8] {
        let picture = try DrawnPoster(width: 16, height: 16).draw()
        let body = try codec.encode(picture, EncodeOptions(profile: [UInt8](repeating: 9, count: size)))
        return Array(body.readableBytesView)
    }

    func testThatAProfileInManyPiecesIsPutTogetherAndOneThatIsTooLargeIsNone() throws {
        XCTAssertEqual(try header(file(profile: 3_000_000)).colors, .icc([UInt8](repeating: 9, count: 3_000_000)))
        XCTAssertEqual(try header(file(profile: ImageHeader.largestProfile)).colors != .sRGB, true)
        XCTAssertEqual(try header(file(profile: ImageHeader.largestProfile + 1)).colors, .sRGB)
    }

    func testAPieceThatComesTwiceCountsOnce() throws {
        // Given a duplicate piece
        let bytes = try file(profile: 1000)
        let start = try XCTUnwrap(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xE2 })
        let piece = bytes[start..<start + 2 + 16 + 1000]
        // When, then
        XCTAssertEqual(
            try header(Array(bytes[..<start] + piece + bytes[start...])).colors, .icc([UInt8](repeating: 9, count: 1000)))
    }

    func testThatScansAreCountedInTheHeader() throws {
        XCTAssertEqual(try header(file(segments: 0)).scans, 1)
        XCTAssertEqual(try header(file(segments: 0, isProgressive: true)).scans, 10)
    }

    func testThatLargerPicturesMayHaveFewerScans() throws {
        // Given a progressive file of ten scans of the largest size, and one of half that size
        let file = try file(segments: 0, isProgressive: true)
        func error(_ limits: Limits) -> CodecError? {
            do {
                _ = try codec.picture(file, DecodeRequest(acceptsPlanar: true, limits: limits))
                return nil
            } catch {
                return error
            }
        }
        XCTAssertNil(error(Limits(pixels: 256)))
        XCTAssertNil(error(Limits(pixels: 64_000_000)))
        // Then the limit for all passes is twenty passes over the largest size, and the limit of scans applies too
        XCTAssertEqual(JPEGReader.scans(pixels: 64_000_000, Limits()), 20)
        XCTAssertEqual(JPEGReader.scans(pixels: 32_000_000, Limits()), 40)
        XCTAssertEqual(JPEGReader.scans(pixels: 1, Limits()), 100)
        XCTAssertEqual(JPEGReader.scans(pixels: 64_000_000, Limits(scans: 5)), 5)
        XCTAssertEqual(error(Limits(scans: 5)), .tooManyScans(limit: 5))
    }

    func testThatDecodingTakesNoMoreMemoryThanItSays() throws {
        // Given progressive pictures, whose coefficients are stored, in sizes whose blocks are much larger than their pixels
        let shapes = [(1, 3000), (3000, 1), (300, 200)]
        for (width, height) in shapes {
            for subsampling in [(1, 1), (2, 2), (4, 1), (4, 2)] {
                let picture = try DrawnPoster(width: width, height: height).draw(planes: subsampling)
                let file = try WrittenJPEG(CJPEG_YCBCR) {
                    ($0.isProgressive, $0.subsampling) = (true, (Int32(subsampling.0), Int32(subsampling.1)))
                }.file(picture)
                let bytes = codec.memoryToDecode(try header(file))
                // When the library may allocate the predicted bytes, or a hundredth, then the first suffices and the second does
                // not
                XCTAssertEqual(try start(file, memory: bytes), CJPEG_OK, "\(width) × \(height), \(subsampling)")
                // (the library always accepts a single row of blocks)
                guard height > 32 else { continue }
                XCTAssertEqual(try start(file, memory: bytes / 100), CJPEG_OUT_OF_MEMORY, "\(width) × \(height), \(subsampling)")
            }
        }
    }

    private func start(_ file: [UInt8], memory: Int) throws -> cjpeg_status {
        try file.withUnsafeBufferPointer { bytes in
            let reader = try XCTUnwrap(cjpeg_reader_new(bytes.baseAddress, bytes.count))
            defer { cjpeg_reader_free(reader) }
            var (header, layout, request) = (cjpeg_header(), cjpeg_layout(), cjpeg_request())
            XCTAssertEqual(cjpeg_read_header(reader, &header), CJPEG_OK)
            (request.eighths, request.planar, request.scans, request.memory) = (8, true, 100, memory)
            return cjpeg_start(reader, request, &layout)
        }
    }

    func testThatEncodingTakesNoMoreMemoryThanItSays() throws {
        // Given noise, which cannot be compressed
        var random = SplitMix(seed: 3)
        var picture = try PixelBuffer(PixelLayout(width: 300, height: 200, model: .rgb), limits: Limits())
        for y in 0..<200 {
            picture.withMutableRow(y) { row in
                for index in 0..<row.count { row[index] = UInt8.random(in: 0...255, using: &random) }
            }
        }
        for quality in [50, 89, 90, 100] {
            // When
            let options = EncodeOptions(quality: quality)
            let size = try codec.encode(picture, options).readableBytes
            // Then the file, its buffer and its copy are within the prediction
            XCTAssertLessThan(3 * size, codec.memoryToEncode(picture.layout, options), "quality \(quality)")
        }
    }

    func testThatProgressiveFilesAreLeftBetweenTwoRowsOfBlocksWhenTimeIsUp() throws {
        // Given a clock that passes the deadline after a number of reads
        let file = try WrittenJPEG(CJPEG_YCBCR) { $0.isProgressive = true }
            .file(try DrawnPoster(width: 160, height: 240).draw(planes: (1, 1)))
        let all = LookedAtClock()
        _ = try codec.picture(file, DecodeRequest(acceptsPlanar: true, deadline: all.deadline(after: .max)))
        // Then each scan reads it for each row of blocks
        XCTAssertGreaterThanOrEqual(all.looks, 10 * 30)
        for looks in [0, 1, all.looks / 2, all.looks - 1] {
            // When, then
            XCTAssertThrowsError(
                try codec.picture(
                    file, DecodeRequest(acceptsPlanar: true, deadline: LookedAtClock().deadline(after: looks))
                ).layout
            ) {
                XCTAssertEqual($0 as? CodecError, .timedOut, "after \(looks) looks")
            }
        }
    }

    func testThatWritingEndsWhenTimeIsUp() throws {
        var progressive = JPEGCodec.Configuration()
        progressive.progressive = true
        let picture = try DrawnPoster(width: 160, height: 240).draw(planes: (1, 1))
        for codec in [JPEGCodec(), JPEGCodec(progressive)] {
            let all = LookedAtClock()
            _ = try codec.encode(picture, EncodeOptions(deadline: all.deadline(after: .max)))
            XCTAssertGreaterThanOrEqual(all.looks, 30)
            for looks in [0, all.looks / 2, all.looks - 1] {
                XCTAssertThrowsError(
                    try codec.encode(picture, EncodeOptions(deadline: LookedAtClock().deadline(after: looks)))
                ) {
                    XCTAssertEqual($0 as? CodecError, .timedOut, "after \(looks) looks")
                }
            }
        }
    }
}
