package import NIOCore
import OnesheetCore

extension Renderer {
    /// Decodes a watermark upright and in sRGB.
    /// - Parameters:
    ///   - opacity: 0 to 1.
    ///   - digest: identifies the file and its opacity.
    /// - Throws: `RenderError`, for example if it has more than `WatermarkImage.mostPixels`.
    package func watermark(_ file: ByteBuffer, opacity: Double, digest: String) throws(RenderError) -> WatermarkImage {
        let original = try open(file)
        let header = original.header
        guard header.width * header.height <= WatermarkImage.mostPixels else {
            throw .codec(
                .tooManyPixels(width: header.width, height: header.height, limit: WatermarkImage.mostPixels), header.format)
        }
        var transform = Transform()
        transform.quality = 100
        // Nothing is encoded, but a format without alpha would have a background.
        if header.hasAlpha { transform.format = formats.first(where: \.hasAlpha) }
        let job = try Job(transform, of: header, codecs: codecs, watermark: nil, conversions: conversions, limits: limits)
        do throws(CodecError) {
            let picture = try Rendering([job], of: header, with: self, by: end())
                .picture(file.readableBytesUInt8Span, original.codec)
            return WatermarkImage(picture, opacity: opacity, digest: digest)
        } catch {
            throw failure(error, in: header.format)
        }
    }
}
