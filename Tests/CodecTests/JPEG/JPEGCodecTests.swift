import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

final class JPEGCodecTests: XCTestCase {
    func testThatTheCodecConforms() {
        // Given
        let kinds = [
            PixelLayout(width: 1, height: 1, model: .gray), PixelLayout(width: 1, height: 1, model: .rgb),
            PixelLayout(width: 1, height: 1, model: .cmyk),
        ]
        // When
        let report = CodecConformance(PackedJPEG(), encodes: kinds, tolerance: 4, spareTail: 2).run()
        // Then
        XCTAssertEqual(report.failures.map(\.description), [], "\(report)")
    }
}

/// The codec without planes. `CodecConformance` requests packed pixels and cannot compare planes; `JPEGKindsTests` does.
private struct PackedJPEG: Codec {
    private let codec = JPEGCodec()
    var format: ImageFormat { codec.format }
    var scales: Bool { codec.scales }

    func recognizes(_ bytes: Span<UInt8>) -> Bool { codec.recognizes(bytes) }

    func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader { try codec.header(of: bytes) }

    func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        try codec.decode(bytes, request, into: &sink)
    }

    func decode<Sink: RowSink>(
        _ bytes: Span<UInt8>, _ requests: [DecodeRequest], into sinks: inout [Sink]
    ) throws(CodecError) {
        try codec.decode(bytes, requests, into: &sinks)
    }

    func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
        guard !picture.layout.isPlanar else { throw .unsupported("planes") }
        return try codec.encode(picture, options)
    }
}
