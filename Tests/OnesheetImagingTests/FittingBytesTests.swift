import NIOCore
import OnesheetCore
import PNGCodec
import Synchronization
import XCTest

@testable import OnesheetImaging

/// The number of encodings that meet a limit of bytes.
final class FittingBytesTests: XCTestCase {
    func testLargePicturesAreEncodedAFewTimes() throws {
        for (side, most) in [(500, 8), (2000, 4), (3000, 4)] {
            for limit in [1, 1500, 33_500, 79_000] {
                // Given a picture, and a codec whose files have a thousand bytes for each step of quality
                let codec = SteppedEncoder()
                var transform = Transform()
                (transform.width, transform.height, transform.enlarges, transform.resizing) = (side, side, true, .force)
                (transform.format, transform.maxBytes) = (codec.format, limit)
                let renderer = Renderer(codecs: [PNGCodec(), codec], limits: Limits())
                // When it is made within the limit
                let bytes = try renderer.render(Self.picture(), as: transform).body.readableBytes
                // Then it fits if anything does, after few encodings
                XCTAssertLessThanOrEqual(bytes, max(limit, 1000), "\(side), \(limit)")
                XCTAssertLessThanOrEqual(codec.encodings, most, "\(side), \(limit)")
                // And a small one has the highest quality that fits, and a large one not a much lower one
                XCTAssertGreaterThanOrEqual(bytes, side == 500 ? min(limit, 79_000) / 1000 * 1000 : limit / 2000 * 1000)
            }
        }
    }

    private static func picture() throws -> ByteBuffer {
        let layout = PixelLayout(width: 8, height: 8, model: .gray)
        return try PNGCodec().encode(PixelBuffer(layout, limits: Limits()), EncodeOptions(quality: 80))
    }
}

/// Files of a thousand bytes for each step of quality.
private final class SteppedEncoder: Codec {
    let format = ImageFormat(name: "stepped", mediaType: "image/stepped", extensions: ["stepped"], hasAlpha: false)
    private let count = Atomic(0)

    var encodings: Int { count.load(ordering: .acquiring) }

    func recognizes(_ bytes: Span<UInt8>) -> Bool { false }

    func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader { throw .unsupported("reading") }

    func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        throw .unsupported("reading")
    }

    func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
        count.add(1, ordering: .acquiringAndReleasing)
        return ByteBuffer(repeating: 0, count: options.quality * 1000)
    }
}
