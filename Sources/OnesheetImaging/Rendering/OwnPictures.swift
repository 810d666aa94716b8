package import NIOCore
package import OnesheetCore

/// Pictures that the server draws itself.
extension Renderer {
    /// An empty picture within the limits.
    package func picture(_ layout: PixelLayout) throws(RenderError) -> PixelBuffer {
        do throws(CodecError) { return try PixelBuffer(layout, limits: limits) } catch { throw failure(error, in: .png) }
    }

    /// Encodes a picture that the server has drawn itself: as PNG if that can be written, so without loss.
    package func encoded(_ picture: borrowing PixelBuffer) throws(RenderError) -> ByteBuffer {
        guard let codec = codecs.codecs.first(where: { $0.format == .png }) ?? codecs.codecs.first else {
            throw .noEncoder(for: .png)
        }
        do throws(CodecError) { return try codec.encode(picture, EncodeOptions(deadline: end())) } catch {
            throw failure(error, in: codec.format)
        }
    }
}
