import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging

/// The floor with libjpeg-turbo: its scaled decode, at the smallest sufficient scale and in planes, and the encoding of the result,
/// without resampling.
struct Floor {
    private let codec = JPEGCodec()
    private let original: ByteBuffer
    private let outcome: Kept
    private let request: DecodeRequest

    init(_ original: ByteBuffer, _ image: RenderedImage) throws {
        self.original = original
        request = DecodeRequest(minimumWidth: image.width, minimumHeight: image.height, acceptsPlanar: true)
        var sink = Kept()
        var whole = DecodeRequest()
        whole.acceptsPlanar = true
        try codec.decode(image.body.readableBytesUInt8Span, whole, into: &sink)
        outcome = sink
    }

    func run() throws {
        var sink = Nothing()
        try codec.decode(original.readableBytesUInt8Span, request, into: &sink)
        guard let kept = outcome.picture else { return }
        _ = try codec.encode(kept.pixels, EncodeOptions())
    }

    private struct Nothing: RowSink {
        mutating func begin(_ layout: PixelLayout) {}
        mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) {}
    }

    private final class Picture {
        var pixels: PixelBuffer
        init(_ layout: PixelLayout) throws(CodecError) { pixels = try PixelBuffer(layout, limits: Limits()) }
    }

    private struct Kept: RowSink {
        var picture: Picture?
        mutating func begin(_ layout: PixelLayout) throws(CodecError) { picture = try Picture(layout) }
        mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) {
            picture?.pixels.withMutableRow(y, plane: plane) { row in
                for index in 0..<row.count { row[index] = samples[index] }
            }
        }
    }
}
