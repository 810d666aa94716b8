import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import PNGCodec
import Synchronization
import XCTest

@testable import OnesheetImaging

#if AVIF
    import AVIFCodec
#endif
#if WebP
    import WebPCodec
#endif

/// Variants whose quality the server finds.
final class FoundQualityTests: XCTestCase {
    private var codecs: [any Codec] {
        var codecs: [any Codec] = [JPEGCodec(), PNGCodec()]
        #if WebP
            codecs.append(WebPCodec())
        #endif
        #if AVIF
            codecs.append(AVIFCodec())
        #endif
        return codecs
    }

    private func renderer(_ codecs: [any Codec]? = nil) -> Renderer { Renderer(codecs: codecs ?? self.codecs, limits: Limits()) }

    private func original(grain: Double = 10) throws -> ByteBuffer {
        try PNGCodec().encode(try DrawnPoster(width: 240, height: 360, grain: grain).draw(), EncodeOptions())
    }

    private func transform(_ format: ImageFormat, _ change: (inout Transform) -> Void = { _ in }) -> Transform {
        var transform = Transform()
        (transform.width, transform.format, transform.findsQuality) = (120, format, true)
        change(&transform)
        return transform
    }

    private func luma(_ image: RenderedImage, _ codec: any Codec) throws -> LumaPlane {
        let picture = try codec.picture(Array(image.body.readableBytesView), DecodeRequest(acceptsPlanar: true))
        return try XCTUnwrap(try LumaPlane(picture, by: .never))
    }

    func testThatEveryFormatGetsAboutTheSameLook() throws {
        for grain in [0.0, 10] {
            // Given a poster, and the picture before encoding
            let file = try original(grain: grain)
            let picture = try luma(try renderer().render(file, as: transform(.png)), PNGCodec())
            for codec in codecs where codec.usesQuality {
                // When its quality is found
                let image = try renderer().render(file, as: transform(codec.format))
                // Then it looks as wanted, and no better than necessary
                let distance = try XCTUnwrap(try VisibleDistance(picture, try luma(image, codec), by: .never))
                XCTAssertLessThanOrEqual(distance.units, VisibleDistance.jpegOf80.units * 102 / 100, "\(codec.format), \(grain)")
                XCTAssertGreaterThan(distance.units, VisibleDistance.jpegOf80.units * 3 / 4, "\(codec.format), \(grain)")
            }
        }
    }

    func testThatALargePictureIsEncodedOnceAndPredictedSo() throws {
        // Given pictures around the limit
        for (height, isFound) in [(1000, true), (1001, false)] {
            let file = try PNGCodec().encode(try DrawnPoster(width: 2000, height: height).draw(), EncodeOptions())
            let counting = CountingJPEG()
            let renderer = renderer([counting, PNGCodec()])
            func cost(_ finds: Bool) throws -> Int {
                let wanted = transform(.jpeg) { ($0.width, $0.findsQuality) = (0, finds) }
                return try renderer.cost(of: try renderer.open(file).outline, as: [wanted]).bytes
            }
            // When one is rendered in its own size, then a quality is found up to the limit, and predicted so
            _ = try renderer.render(file, as: transform(.jpeg) { $0.width = 0 })
            XCTAssertEqual(counting.tried.count > 1, isFound, "\(height)")
            XCTAssertEqual(try cost(true) > cost(false), isFound, "\(height)")
        }
    }

    func testThatAPictureIsEncodedAtMostFourTimes() throws {
        for grain in [0.0, 5, 20, 90] {
            // Given
            let counting = CountingJPEG()
            // When
            _ = try renderer([counting, PNGCodec()]).render(try original(grain: grain), as: transform(.jpeg))
            // Then no number is tried twice
            let tried = counting.tried
            XCTAssertEqual(tried.first, 80)
            XCTAssertLessThanOrEqual(tried.count, 4)
            XCTAssertEqual(Set(tried).count, tried.count)
            for quality in tried { XCTAssertTrue((40...89).contains(quality)) }
        }
    }

    func testThatItIsTheSameFileAgainAndBesideOthers() throws {
        let file = try original()
        for codec in codecs {
            let alone = try renderer().render(file, as: transform(codec.format))
            let together = try renderer().render(file, as: [transform(.jpeg) { $0.width = 60 }, transform(codec.format)])
            XCTAssertEqual(together[1].body, alone.body, "\(codec.format)")
        }
    }

    func testThatFormatsWithoutAQualityIgnoreIt() throws {
        let file = try original()
        XCTAssertEqual(
            try renderer().render(file, as: transform(.png)).body,
            try renderer().render(file, as: transform(.png) { $0.findsQuality = false }).body)
        #if WebP
            let lossless = renderer([PNGCodec(), WebPCodec(lossless: true)])
            XCTAssertEqual(
                try lossless.render(file, as: transform(.webp)).body,
                try lossless.render(file, as: transform(.webp) { $0.findsQuality = false }).body)
        #endif
    }

    func testThatACodecThatCannotDecodeHasTheUsualNumber() throws {
        // Given
        let file = try original()
        let counting = CountingJPEG(error: .unsupported("decoding"))
        // When
        let image = try renderer([counting, PNGCodec()]).render(file, as: transform(.jpeg))
        // Then
        XCTAssertEqual(counting.tried, [80])
        XCTAssertEqual(image.body, try renderer().render(file, as: transform(.jpeg) { $0.findsQuality = false }).body)
    }

    func testThatAPictureTooSmallToCompareHasTheUsualNumber() throws {
        let file = try original()
        for codec in codecs {
            XCTAssertEqual(
                try renderer().render(file, as: transform(codec.format) { $0.width = 5 }).body,
                try renderer().render(file, as: transform(codec.format) { ($0.width, $0.findsQuality) = (5, false) }).body)
        }
    }

    func testThatItFailsIfThereIsNoTimeOrMemory() throws {
        for error in [CodecError.timedOut, .outOfMemory] {
            let counting = CountingJPEG(error: error)
            XCTAssertThrowsError(try renderer([counting, PNGCodec()]).render(try original(), as: transform(.jpeg)), "\(error)")
            XCTAssertEqual(counting.tried, [80])
        }
    }

    func testThatItStaysWithinTheBytesThatAreAllowed() throws {
        // Given what it takes without a limit
        let file = try original()
        let free = try renderer().render(file, as: transform(.jpeg)).body.readableBytes
        // When there is less room, then it fits
        let image = try renderer().render(file, as: transform(.jpeg) { $0.maxBytes = free / 2 })
        XCTAssertLessThanOrEqual(image.body.readableBytes, free / 2)
        XCTAssertEqual(try renderer().render(file, as: transform(.jpeg) { $0.maxBytes = free }).body.readableBytes, free)
    }

    func testThatTransparentPicturesWork() throws {
        let clear = try PNGCodec().encode(try DrawnPoster(width: 120, height: 180).draw(hasAlpha: true), EncodeOptions())
        for codec in codecs {
            let image = try renderer().render(clear, as: transform(codec.format))
            XCTAssertEqual(
                try codec.header(of: image.body.readableBytesUInt8Span).hasAlpha, codec.format.hasAlpha, "\(codec.format)")
        }
    }
}

/// JPEG that notes the qualities it is asked for, and may fail to decode.
private final class CountingJPEG: Codec {
    private let codec = JPEGCodec()
    private let error: CodecError?
    private let qualities = Mutex<[Int]>([])

    init(error: CodecError? = nil) { self.error = error }

    var tried: [Int] { qualities.withLock { $0 } }
    var format: ImageFormat { .jpeg }

    func recognizes(_ bytes: Span<UInt8>) -> Bool { codec.recognizes(bytes) }

    func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader { try codec.header(of: bytes) }

    func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        if let error { throw error }
        try codec.decode(bytes, request, into: &sink)
    }

    func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
        qualities.withLock { $0.append(options.quality) }
        return try codec.encode(picture, options)
    }
}
