import NIOCore
import OnesheetCore
import PNGCodec

/// The first bytes select a layout, the others are pixels. Both decoders must return the same pixels.
enum FuzzPNGEncoding {
    static func run(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
        guard bytes.count > 4 else { return 0 }
        let layout = PixelLayout(
            width: Int(bytes[0] % 70) + 1, height: Int(bytes[1] % 20) + 1, model: bytes[2] & 1 == 0 ? .gray : .rgb,
            hasAlpha: bytes[2] & 2 != 0)
        let channels = layout.planes[0].channels
        let samples = (0..<layout.bytes).map { bytes[4 + $0 % (bytes.count - 4)] }
        do throws(CodecError) {
            var picture = try PixelBuffer(layout, limits: Limits())
            for y in 0..<layout.height {
                picture.withMutableRow(y) { row in
                    for place in 0..<row.count { row[place] = samples[y * layout.width * channels + place] }
                }
            }
            let file = Array(try PNGCodec().encode(picture, EncodeOptions(effort: Int(bytes[3] % 8))).readableBytesView)
            let expected = stride(from: 0, to: samples.count, by: channels).flatMap {
                rgba(samples[$0..<($0 + channels)], layout)
            }
            for codec in [PNGCodec(), PNGCodec(onlyLibpng: true)] {
                var sink = Colors()
                try codec.decode(file.span, DecodeRequest(), into: &sink)
                precondition(sink.colors == expected, "a pixel is lost")
            }
        } catch {
            preconditionFailure("\(error)")
        }
        return 0
    }
}

private func rgba(_ pixel: ArraySlice<UInt8>, _ layout: PixelLayout) -> [UInt8] {
    let colors = Array(pixel.prefix(layout.model.channels))
    return (colors.count == 1 ? [colors[0], colors[0], colors[0]] : colors) + [layout.hasAlpha ? pixel.last ?? 0 : 255]
}

/// Stores red, green, blue and alpha of every pixel.
private struct Colors: RowSink {
    private var layout: PixelLayout?
    private(set) var colors: [UInt8] = []

    mutating func begin(_ layout: PixelLayout) { self.layout = layout }

    mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) {
        guard let layout else { preconditionFailure("a row before the beginning") }
        let channels = layout.planes[0].channels
        for x in 0..<layout.width {
            let pixel = (0..<channels).map { samples[x * channels + $0] }
            colors += rgba(pixel[...], layout)
        }
    }
}
