import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import WebPCodec

final class WebPCodecTests: XCTestCase {
    private let codec = WebPCodec(lossless: true)

    /// A lossless file with the pixels of `pixel`.
    private func file(
        _ width: Int, _ height: Int, alpha: Bool = false, _ options: EncodeOptions = EncodeOptions(),
        _ pixel: (Int, Int) -> [UInt8]
    ) throws -> [UInt8] {
        var picture = try PixelBuffer(PixelLayout(width: width, height: height, model: .rgb, hasAlpha: alpha), limits: Limits())
        for y in 0..<height {
            let row = (0..<width).flatMap { pixel($0, y) }
            picture.withMutableRow(y) { samples in for place in row.indices { samples[place] = row[place] } }
        }
        return Array(try codec.encode(picture, options).readableBytesView)
    }

    private func decoded(_ file: [UInt8], _ request: DecodeRequest = DecodeRequest()) throws -> RowCollector {
        var sink = RowCollector()
        try codec.decode(file.span, request, into: &sink)
        return sink
    }

    private func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(bytes.count, 4) + bytes + [UInt8](repeating: 0, count: bytes.count % 2)
    }

    private func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 255) } }

    private func riff(_ chunks: [UInt8]) -> [UInt8] { chunk("RIFF", Array("WEBP".utf8) + chunks) }

    func testThatQualitiesRiseWithThoseOfJPEG() {
        let own = (0...101).map { WebPCodec.looks.own($0) }
        XCTAssertEqual([own[0], own[1], own[80], own[100], own[101]], [1, 1, 82, 100, 100])
        for (lower, higher) in zip(own, own.dropFirst()) { XCTAssertLessThanOrEqual(lower, higher) }
    }

    func testThatWhatStandsBehindTheFirstFrameMayBeMissing() throws {
        // Given a picture with EXIF after it
        let exif = EXIF.tiff(copyright: "A. Painter")
        let file = try file(9, 7, EncodeOptions(exif: exif)) { x, y in [UInt8(x * 20), UInt8(y * 30), 9] }
        let whole = try decoded(file).rgba
        // When it is truncated, from its last byte to the whole chunk, then the picture is decoded
        for missing in 1...exif.count + 8 {
            XCTAssertEqual(try decoded(file.dropLast(missing)).rgba, whole, "\(missing)")
        }
        // But not without its own last bytes
        XCTAssertThrowsError(try decoded(file.dropLast(exif.count + 8 + 8))) {
            XCTAssertEqual($0 as? CodecError, .truncated)
        }
    }

    func testThatMetadataBeyondItsLimitIsNone() throws {
        func header(_ options: EncodeOptions) throws -> ImageHeader {
            let file = try file(3, 3, options) { _, _ in [1, 2, 3] }
            return try codec.header(of: file.span)
        }
        let (profile, exif) = (ImageHeader.largestProfile, ImageHeader.largestEXIF)
        XCTAssertNotEqual(try header(EncodeOptions(profile: [UInt8](repeating: 1, count: profile))).colors, .sRGB)
        XCTAssertEqual(try header(EncodeOptions(profile: [UInt8](repeating: 1, count: profile + 1))).colors, .sRGB)
        XCTAssertNotNil(try header(EncodeOptions(exif: [UInt8](repeating: 1, count: exif))).exif)
        XCTAssertNil(try header(EncodeOptions(exif: [UInt8](repeating: 1, count: exif + 1))).exif)
    }

    func testThatADeadlineThatHasPassedEndsTheWork() throws {
        for codec in [WebPCodec(), WebPCodec(lossless: true)] {
            // Given the number of reads of the clock
            let picture = try DrawnPoster(width: 60, height: 90).draw()
            let (writing, reading) = (LookedAtClock(), LookedAtClock())
            let file = try codec.encode(picture, EncodeOptions(deadline: writing.deadline(after: .max)))
            _ = try codec.picture(Array(file.readableBytesView), DecodeRequest(deadline: reading.deadline(after: .max)))
            XCTAssertGreaterThan(writing.looks, 3)
            XCTAssertGreaterThan(reading.looks, 0)
            // When the deadline passes at one of them
            for looks in [0, writing.looks - 1] {
                XCTAssertThrowsError(
                    try codec.encode(picture, EncodeOptions(deadline: LookedAtClock().deadline(after: looks)))
                ) {
                    XCTAssertEqual($0 as? CodecError, .timedOut)
                }
            }
            XCTAssertThrowsError(
                try codec.picture(
                    Array(file.readableBytesView), DecodeRequest(deadline: LookedAtClock().deadline(after: 0))
                ).layout
            ) {
                XCTAssertEqual($0 as? CodecError, .timedOut)
            }
        }
    }

    func testThatTheFirstFrameOfAnAnimationLiesOnItsCanvas() throws {
        // Given a red frame of 2 × 2 at (2, 4) of 8 × 8, and a second one over everything
        let frames = [(2, 4, try file(2, 2) { _, _ in [255, 0, 0] }), (0, 0, try file(8, 8) { _, _ in [0, 0, 255] })]
        let animation = riff(
            chunk("VP8X", [0x02, 0, 0, 0] + little(7, 3) + little(7, 3)) + chunk("ANIM", [0, 0, 0, 0, 0, 0])
                + frames.flatMap { x, y, frame in
                    let side = x == 0 ? 7 : 1
                    let place = little(x / 2, 3) + little(y / 2, 3) + little(side, 3) + little(side, 3) + little(100, 3) + [0]
                    return chunk("ANMF", place + frame.dropFirst(12))
                })

        // When
        let sink = try decoded(animation)

        // Then
        let expected = (0..<64).flatMap { place -> [UInt8] in
            (2..<4).contains(place % 8) && (4..<6).contains(place / 8) ? [255, 0, 0, 255] : [0, 0, 0, 0]
        }
        XCTAssertEqual(sink.rgba, expected)
        XCTAssertTrue(try codec.header(of: animation.span).hasAlpha)
    }

    func testThatALargePictureMayComeSmaller() throws {
        for (minimum, side) in [(0, 13), (13, 25), (25, 25), (26, 50), (51, 100), (1000, 100)] {
            // Given
            let file = try file(100, 100) { _, _ in [10, 20, 30] }

            // When
            let sink = try decoded(file, DecodeRequest(minimumWidth: minimum, minimumHeight: 1))

            // Then
            XCTAssertEqual([sink.layout?.width, sink.layout?.height], [side, side], "at least \(minimum)")
            XCTAssertEqual(sink.rgba.map { Array($0.prefix(4)) }, [10, 20, 30, 255])
        }
    }

    func testThatEXIFMayHaveTheMarkerOfJPEG() throws {
        // Given
        let tiff = Array("II*\0\u{8}\0\0\0\u{1}\0\u{12}\u{1}\u{3}\0\u{1}\0\0\0\u{8}\0\0\0\0\0\0\0".utf8)
        let file = try file(3, 2, EncodeOptions(exif: Array("Exif\0\0".utf8) + tiff)) { _, _ in [1, 2, 3] }

        // When
        let header = try codec.header(of: file.span)

        // Then
        XCTAssertEqual(header.exif, EXIF.upright(tiff: tiff))
        XCTAssertNotEqual(header.exif, tiff)
        // And browsers ignore an orientation in WebP
        XCTAssertEqual(header.orientation, .up)
    }

    func testThatMetadataDoesNotTouchPixels() throws {
        // Given
        let options = EncodeOptions(profile: [1, 2, 3], exif: [4, 5, 6, 7])
        let pixel = { (x: Int, y: Int) -> [UInt8] in [UInt8(x * 9), UInt8(y * 9), 7, UInt8(x + y)] }

        // When
        let plain = try decoded(try file(9, 7, alpha: true, EncodeOptions(), pixel)).rgba
        let described = try decoded(try file(9, 7, alpha: true, options, pixel)).rgba

        // Then
        XCTAssertEqual(described, plain)
    }

    func testThatWhatHasComeIsTakenWhereItIsAccepted() throws {
        // Given
        let whole = try file(64, 64) { x, y in [UInt8(x * 3 ^ y), UInt8(y * 4), UInt8(x * y & 255)] }
        let half = Array(whole[..<(whole.count * 3 / 4)])

        // When
        let sink = try decoded(half, DecodeRequest(acceptsTruncated: true))

        // Then
        XCTAssertEqual(sink.rgba?.prefix(64 * 4 * 8), try decoded(whole).rgba?.prefix(64 * 4 * 8))
        XCTAssertEqual(try codec.header(of: half.span).width, 64)
        XCTAssertThrowsError(try decoded(half)) { XCTAssertEqual($0 as? CodecError, .truncated) }
    }

    func testThatSidesBeyondTheFormatAreRefused() {
        XCTAssertThrowsError(try file(16384, 1) { _, _ in [0, 0, 0] }) {
            XCTAssertEqual($0 as? CodecError, .unsupported("16384 × 1 pixels in WebP"))
        }
    }

    func testThatMoreQualityTakesMoreBytes() throws {
        // Given
        func size(_ quality: Int) throws -> Int {
            var picture = try PixelBuffer(PixelLayout(width: 64, height: 64, model: .rgb), limits: Limits())
            for y in 0..<64 {
                picture.withMutableRow(y) { row in
                    for place in 0..<row.count { row[place] = UInt8((place * place + y * 31) & 255) }
                }
            }
            return try WebPCodec().encode(picture, EncodeOptions(quality: quality)).readableBytes
        }

        // Then
        XCTAssertLessThan(try size(20), try size(90))
    }

    func testThatTheSampleIsUnderstood() throws {
        // Given the lines of the sample, which has no nesting
        let lines = WebPCodec.sampleConfiguration.split(separator: "\n").filter { !$0.hasPrefix("#") }
        var keys = Dictionary(
            uniqueKeysWithValues: lines.map { line -> (String, ConfigurationValue) in
                let parts = line.split(separator: ": ", maxSplits: 1)
                return (String(parts[0]), .scalar(String(parts[1])))
            })

        // When
        let type = keys.removeValue(forKey: "type")
        let configuration = try ConfigurationDecoder().decode(WebPCodec.Configuration.self, from: .mapping(keys))

        // Then
        XCTAssertEqual(type, .scalar(WebPCodec.type))
        XCTAssertEqual(configuration.effort, 4)
        XCTAssertEqual(configuration.lossless, false)
        XCTAssertNoThrow(try WebPCodec(configuration, context: .forTesting()))
    }
}
