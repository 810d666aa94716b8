#if HEIC
    internal import CHEIF
    internal import OnesheetCore

    /// A decoded picture in libheif's memory: red, green, blue and perhaps alpha of each pixel.
    struct HEICPixels: ~Copyable {
        private let image: OpaquePointer
        private let start: UnsafePointer<UInt8>
        private let stride: Int
        private let channels: Int

        /// Takes over `image`.
        /// - Throws: `CodecError.damaged` if it has another size.
        init(_ image: OpaquePointer, width: Int, height: Int, hasAlpha: Bool) throws(CodecError) {
            var stride: Int32 = 0
            let channels = hasAlpha ? 4 : 3
            guard let start = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride),
                heif_image_get_width(image, heif_channel_interleaved) == width,
                heif_image_get_height(image, heif_channel_interleaved) == height, Int(stride) >= width * channels
            else {
                heif_image_release(image)
                throw .damaged(reason: "the image has another size than its file says")
            }
            self.image = image
            self.start = start
            self.stride = Int(stride)
            self.channels = channels
        }

        deinit { heif_image_release(image) }

        /// Fills `pixels` with row `y`.
        /// - Parameter unmultiplied: whether to divide the colours by alpha.
        func copyRow(_ y: Int, to pixels: inout [UInt8], unmultiplied: Bool) {
            let row = UnsafeBufferPointer(start: start + y * stride, count: pixels.count)
            pixels.withUnsafeMutableBufferPointer { _ = $0.update(from: row) }
            guard unmultiplied, channels == 4 else { return }
            for pixel in Swift.stride(from: 0, to: pixels.count, by: 4) {
                let alpha = Int(pixels[pixel + 3])
                for channel in pixel..<(pixel + 3) {
                    pixels[channel] = alpha == 0 ? 0 : UInt8(min(255, (Int(pixels[channel]) * 255 + alpha / 2) / alpha))
                }
            }
        }
    }
#endif
