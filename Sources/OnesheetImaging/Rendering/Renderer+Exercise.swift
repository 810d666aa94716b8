import NIOCore
import OnesheetCore

extension Renderer {
    /// Encodes and decodes a small picture in each format and converts colours, so that libraries have loaded and looked up what they do
    /// once. Errors do not matter: a codec may refuse such a picture.
    package func exercise() {
        let layout = PixelLayout(width: 16, height: 16, model: .rgb)
        for codec in codecs.codecs {
            guard let picture = try? PixelBuffer(layout, limits: limits),
                let file = try? codec.encode(picture, EncodeOptions(deadline: end()))
            else { continue }
            var transform = Transform()
            (transform.width, transform.format) = (8, codec.format)
            _ = try? render(file, as: transform)
        }
        // The library of colours asks for the date when it makes a profile, and the C library then reads the time zone.
        for model in [ColorModel.gray, .rgb, .cmyk] {
            _ = ColorConversion(.gamma(2, chromaticities: nil), channels: model.channels, hasAlpha: false)
        }
    }
}
