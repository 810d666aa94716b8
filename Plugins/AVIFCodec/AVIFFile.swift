#if AVIF
    internal import CAVIF
    internal import OnesheetCore

    /// Reads one AVIF file with libavif.
    struct AVIFFile: ~Copyable {
        private let decoder: UnsafeMutablePointer<avifDecoder>
        private let image: UnsafeMutablePointer<avifImage>
        /// The size before cropping.
        let width: Int
        let height: Int
        /// The visible part (ISO/IEC 23008-12 §6.5.9, clean aperture).
        let crop: (x: Int, y: Int, width: Int, height: Int)
        let hasAlpha: Bool

        /// - Parameters:
        ///   - bytes: must stay in place during the lifetime of this object.
        ///   - pixels: the most pixels of the AV1 decoder; `nil` uses libavif's limit.
        init(_ bytes: UnsafeBufferPointer<UInt8>, pixels: Int? = nil) throws(CodecError) {
            try AVIFBoxes.check(bytes)
            guard let decoder = avifDecoderCreate() else { throw .outOfMemory }
            decoder.pointee.maxThreads = 1
            decoder.pointee.ignoreXMP = AVIF_TRUE
            // Browsers show files whose depth is only in their stream, as older writers make them, and the whole of those whose clean
            // aperture is impossible.
            decoder.pointee.strictFlags &= ~(AVIF_STRICT_PIXI_REQUIRED.rawValue | AVIF_STRICT_CLAP_VALID.rawValue)
            if let pixels { decoder.pointee.imageSizeLimit = UInt32(min(max(pixels, 1), Int(decoder.pointee.imageSizeLimit))) }
            var result = avifDecoderSetIOMemory(decoder, bytes.baseAddress, bytes.count)
            if result == AVIF_RESULT_OK { result = avifDecoderParse(decoder) }
            guard result == AVIF_RESULT_OK, let image = decoder.pointee.image else {
                avifDecoderDestroy(decoder)
                throw Self.error(result)
            }
            self.decoder = decoder
            self.image = image
            let width = Int(image.pointee.width)
            let height = Int(image.pointee.height)
            self.width = width
            self.height = height
            hasAlpha = decoder.pointee.alphaPresent != 0
            crop = Self.crop(image) ?? (0, 0, width, height)
        }

        deinit { avifDecoderDestroy(decoder) }

        var exif: [UInt8]? { Self.bytes(image.pointee.exif, atMost: ImageHeader.largestEXIF) }

        /// The colour space: a profile, or else code points (ITU-T H.273).
        var colors: ColorDescription {
            get throws(CodecError) {
                if let profile = Self.bytes(image.pointee.icc, atMost: ImageHeader.largestProfile) { return .icc(profile) }
                return try ColorDescription(
                    primaries: Int(image.pointee.colorPrimaries), transfer: Int(image.pointee.transferCharacteristics))
            }
        }

        /// The orientation: first irot, counter-clockwise, then imir (ISO/IEC 23000-22 §7.3.6.7). EXIF does not apply.
        var orientation: Orientation {
            let flags = image.pointee.transformFlags
            let turns = flags & AVIF_TRANSFORM_IROT.rawValue != 0 ? Int(image.pointee.irot.angle) % 4 : 0
            guard flags & AVIF_TRANSFORM_IMIR.rawValue != 0 else { return [.up, .left, .down, .right][turns] }
            return image.pointee.imir.mode == 1
                ? [.upMirrored, .rightMirrored, .downMirrored, .leftMirrored][turns]
                : [.downMirrored, .leftMirrored, .upMirrored, .rightMirrored][turns]
        }

        /// Decodes the first picture into 8 bits; alpha is not premultiplied.
        func decode(limits: Limits) throws(CodecError) -> PixelBuffer {
            let result = avifDecoderNextImage(decoder)
            guard result == AVIF_RESULT_OK else { throw Self.error(result) }
            guard Int(image.pointee.width) == width, Int(image.pointee.height) == height else {
                throw .damaged(reason: "the image has another size than its file says")
            }
            var picture = try PixelBuffer(
                PixelLayout(width: width, height: height, model: .rgb, hasAlpha: hasAlpha), limits: limits)
            var target = avifRGBImage()
            avifRGBImageSetDefaults(&target, image)
            target.depth = 8
            target.format = hasAlpha ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB
            target.rowBytes = UInt32(picture.stride(of: 0))
            let converted = picture.withMutablePlane(0) { start in
                target.pixels = start
                return avifImageYUVToRGB(image, &target)
            }
            guard converted == AVIF_RESULT_OK else { throw Self.error(converted) }
            return picture
        }

        private static func crop(_ image: UnsafeMutablePointer<avifImage>) -> (x: Int, y: Int, width: Int, height: Int)? {
            guard image.pointee.transformFlags & AVIF_TRANSFORM_CLAP.rawValue != 0 else { return nil }
            var rect = avifCropRect()
            var diagnostics = avifDiagnostics()
            let isUsable = avifCropRectConvertCleanApertureBox(
                &rect, &image.pointee.clap, image.pointee.width, image.pointee.height, image.pointee.yuvFormat, &diagnostics)
            guard isUsable != 0 else { return nil }
            return (Int(rect.x), Int(rect.y), Int(rect.width), Int(rect.height))
        }

        /// Also `nil` if it is larger than `limit`.
        private static func bytes(_ data: avifRWData, atMost limit: Int) -> [UInt8]? {
            (1...limit).contains(data.size) ? Array(UnsafeBufferPointer(start: data.data, count: data.size)) : nil
        }

        static func error(_ result: avifResult) -> CodecError {
            switch result {
            case AVIF_RESULT_TRUNCATED_DATA, AVIF_RESULT_WAITING_ON_IO: .truncated
            case AVIF_RESULT_OUT_OF_MEMORY: .outOfMemory
            case AVIF_RESULT_UNSUPPORTED_DEPTH, AVIF_RESULT_NOT_IMPLEMENTED, AVIF_RESULT_NO_CODEC_AVAILABLE:
                .unsupported(String(cString: avifResultToString(result)))
            default: .damaged(reason: String(cString: avifResultToString(result)))
            }
        }
    }
#endif
