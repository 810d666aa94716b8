#if HEIC
    internal import CHEIF
    public import OnesheetCore

    /// A drawn HEIC file, encoded with libheif and x265, and the samples that it must show.
    ///
    /// Sides that are not multiples of 8 make a grid of one tile, as Apple's devices want it.
    public struct DrawnHEIC: Sendable {
        public var width: Int
        public var height: Int
        public var hasAlpha: Bool
        public var isPremultiplied = false
        /// The turn that shows the stored picture upright.
        public var orientation = Orientation.up
        public var profile: [UInt8]?
        public var exif: [UInt8]?
        /// Code points (ITU-T H.273).
        public var points: (primaries: Int, transfer: Int)?
        public var isLossless = false
        /// 8 or 10; only without alpha.
        public var bits = 8
        /// By how much the picture is brighter than usual.
        public var shade = 0

        public init(width: Int, height: Int, hasAlpha: Bool = false) {
            self.width = width
            self.height = height
            self.hasAlpha = hasAlpha
        }

        private var channels: Int { hasAlpha ? 4 : 3 }

        private func opacity(_ y: Int) -> Int { y < height / 2 ? 255 : 128 }

        /// Red, green, blue and perhaps alpha of all stored pixels: soft, so that little is lost.
        public var decoded: [UInt8] {
            (0..<(width * height)).flatMap { place -> [UInt8] in
                let (x, y) = (place % width, place / width)
                let color = [60 + x, 90 + y, 120 + (x + y) / 2].map { UInt8(min(255, $0 + shade)) }
                return color + (hasAlpha ? [UInt8(opacity(y))] : [])
            }
        }

        private var stored: [UInt8] {
            guard hasAlpha, isPremultiplied else { return decoded }
            var samples = decoded
            for place in stride(from: 0, to: samples.count, by: 4) {
                let opacity = Int(samples[place + 3])
                for channel in place..<(place + 3) { samples[channel] = UInt8(Int(samples[channel]) * opacity / 255) }
            }
            return samples
        }

        public var file: [UInt8] {
            guard let context = heif_context_alloc() else { preconditionFailure("libheif has no memory") }
            defer { heif_context_free(context) }
            var encoder: OpaquePointer?
            check(heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder))
            guard let encoder, let options = heif_encoding_options_alloc() else { preconditionFailure("libheif has no x265") }
            defer {
                heif_encoder_release(encoder)
                heif_encoding_options_free(options)
            }
            check(heif_encoder_set_lossy_quality(encoder, 95))
            check(heif_encoder_set_lossless(encoder, isLossless ? 1 : 0))
            options.pointee.image_orientation = heif_orientation(rawValue: UInt32(orientation.rawValue))
            // Without this, libheif leaves the code points out, for the sake of old versions of macOS.
            options.pointee.macOS_compatibility_workaround_no_nclx_profile = points == nil ? 1 : 0
            let image = image()
            defer { heif_image_release(image) }
            var handle: OpaquePointer?
            check(heif_context_encode_image(context, image, encoder, options, &handle))
            if let exif { check(heif_context_add_exif_metadata(context, handle, exif, Int32(exif.count))) }
            heif_image_handle_release(handle)
            var bytes: [UInt8] = []
            var writer = heif_writer(
                writer_api_version: 1,
                write: { _, data, count, bytes in
                    bytes?.assumingMemoryBound(to: [UInt8].self).pointee += UnsafeRawBufferPointer(start: data, count: count)
                    return heif_error(code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: nil)
                })
            withUnsafeMutablePointer(to: &bytes) { bytes in check(heif_context_write(context, &writer, bytes)) }
            return bytes
        }

        private func image() -> OpaquePointer {
            var image: OpaquePointer?
            check(
                heif_image_create(
                    Int32(width), Int32(height), heif_colorspace_RGB,
                    bits > 8
                        ? heif_chroma_interleaved_RRGGBB_LE : hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB,
                    &image))
            guard let image else { preconditionFailure("libheif makes a picture") }
            check(heif_image_add_plane(image, heif_channel_interleaved, Int32(width), Int32(height), Int32(bits)))
            var row: Int32 = 0
            guard let start = heif_image_get_plane(image, heif_channel_interleaved, &row) else {
                preconditionFailure("libheif makes a plane")
            }
            let samples = stored
            for y in 0..<height {
                for place in 0..<(width * channels) {
                    let sample = samples[y * width * channels + place]
                    guard bits > 8 else {
                        start[y * Int(row) + place] = sample
                        continue
                    }
                    let wide = Int(sample) << (bits - 8)
                    start[y * Int(row) + place * 2] = UInt8(wide & 255)
                    start[y * Int(row) + place * 2 + 1] = UInt8(wide >> 8)
                }
            }
            heif_image_set_premultiplied_alpha(image, isPremultiplied ? 1 : 0)
            if let profile { check(heif_image_set_raw_color_profile(image, "prof", profile, profile.count)) }
            if let points, let described = heif_nclx_color_profile_alloc() {
                described.pointee.color_primaries = heif_color_primaries(rawValue: UInt32(points.primaries))
                described.pointee.transfer_characteristics = heif_transfer_characteristics(rawValue: UInt32(points.transfer))
                check(heif_image_set_nclx_color_profile(image, described))
                heif_nclx_color_profile_free(described)
            }
            return image
        }

        private func check(_ error: heif_error) {
            precondition(error.code == heif_error_Ok, error.message.map { String(cString: $0) } ?? "libheif fails")
        }
    }
#endif
