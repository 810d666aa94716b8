#if AVIF
    internal import CAVIF
    public import NIOCore
    public import OnesheetCore

    /// AVIF (Alliance for Open Media, AV1 Image File Format 1.1) with libavif. Decodes the first picture of a sequence.
    ///
    /// Built with the package trait `AVIF`, which is on by default.
    public struct AVIFCodec: CodecPlugin {
        /// The settings.
        public struct Configuration: Decodable, Sendable {
            /// 0 to 9: the default effort for a smaller file.
            public var effort: Int?

            public init(effort: Int? = nil) { self.effort = effort }
        }

        public static let type = "avif"
        public static let sampleConfiguration = """
            type: avif
            # 0 to 9: the effort for a smaller file; each step takes about twice as long.
            effort: 2
            """

        let effort: Int

        public var format: ImageFormat { .avif }

        /// - Parameter effort: 0 to 9; used if `EncodeOptions.effort` is `nil`.
        public init(effort: Int = 2) {
            precondition((0...9).contains(effort), "an effort is 0 to 9")
            self.effort = effort
        }

        /// - Throws: `ConfigurationError` if the effort is not 0 to 9.
        public init(_ configuration: Configuration, context: PluginContext) throws {
            let effort = configuration.effort ?? 2
            guard (0...9).contains(effort) else {
                throw ConfigurationError(path: "effort", message: "“\(effort)” is not 0 to 9")
            }
            self.init(effort: effort)
        }

        public func recognizes(_ bytes: Span<UInt8>) -> Bool {
            bytes.withUnsafeBufferPointer { bytes in
                var data = avifROData(data: bytes.baseAddress, size: bytes.count)
                return avifPeekCompatibleFileType(&data) != 0
            }
        }

        public func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader {
            try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                let file = try AVIFFile(bytes)
                let exif = file.exif
                return ImageHeader(
                    format: .avif, width: file.crop.width, height: file.crop.height, model: .rgb, hasAlpha: file.hasAlpha,
                    orientation: file.orientation, colors: try file.colors, isProgressive: true,
                    copyright: EXIF(tiff: exif ?? []).copyright, exif: exif)
            }
        }

        /// The picture, its planes with at most two bytes a sample, and as much again for the AV1 decoder.
        public func memoryToDecode(_ header: ImageHeader) -> Int {
            let layout = PixelLayout(width: header.width, height: header.height, model: .rgb, hasAlpha: header.hasAlpha)
            return PixelBuffer.bytes(for: layout) + header.width * header.height * 16 + 4 << 20
        }

        /// The whole picture is in memory during decoding. A truncated file is an error even if `request` accepts it: an AV1 frame
        /// is decoded completely or not at all.
        public func decode<Sink: RowSink & ~Copyable>(
            _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
        ) throws(CodecError) {
            try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                let limit = request.limits.pixels
                let found = try AVIFFile(bytes)
                guard found.width * found.height <= limit else {
                    throw .tooManyPixels(width: found.width, height: found.height, limit: limit)
                }
                // Parsed again to limit the AV1 decoder too: the stream may be larger than the file announces.
                let file = try AVIFFile(bytes, pixels: limit)
                try request.deadline.check()
                let picture = try file.decode(limits: request.limits)
                var watch = DeadlineWatch(request.deadline)
                let (crop, channels) = (file.crop, picture.layout.planes[0].channels)
                try sink.begin(PixelLayout(width: crop.width, height: crop.height, model: .rgb, hasAlpha: file.hasAlpha))
                for y in 0..<crop.height {
                    try watch.row(samples: crop.width * channels)
                    try picture.withRow(crop.y + y) { row throws(CodecError) in
                        try sink.row(row.extracting((crop.x * channels)..<((crop.x + crop.width) * channels)), plane: 0, y: y)
                    }
                }
            }
        }

        /// The largest side of an AV1 sequence header.
        public var longestSide: Int { 65536 }

        /// libavif's qualities with the SSIMULACRA2 of JPEG's, the mean of posters and drawn pictures.
        static let looks = QualityCurve([
            (1, 1), (10, 13), (20, 30), (30, 40), (40, 46), (50, 51), (60, 54), (70, 60), (80, 68), (85, 75), (90, 82), (100, 100),
        ])

        /// Stores gray without colour, and chroma at half the resolution below quality 90.
        ///
        /// - Throws: `CodecError.unsupported` for planar and CMYK pictures, and for sides of more than 65536 pixels.
        public func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
            let layout = picture.layout
            guard layout.model == .gray || layout.model == .rgb else { throw .unsupported("\(layout.model) pixels in AVIF") }
            guard max(layout.width, layout.height) <= longestSide else {
                throw .unsupported("\(layout.width) × \(layout.height) pixels in AVIF")
            }
            let quality = min(max(options.quality, 1), 100)
            let format =
                layout.model == .gray
                ? AVIF_PIXEL_FORMAT_YUV400 : quality < 90 ? AVIF_PIXEL_FORMAT_YUV420 : AVIF_PIXEL_FORMAT_YUV444
            guard let image = avifImageCreate(UInt32(layout.width), UInt32(layout.height), 8, format) else { throw .outOfMemory }
            defer { avifImageDestroy(image) }
            Self.describe(image, options)
            try Self.fill(image, from: picture)
            // libavif encodes a picture in one call, which cannot be interrupted.
            try options.deadline.check()

            guard let encoder = avifEncoderCreate() else { throw .outOfMemory }
            defer { avifEncoderDestroy(encoder) }
            encoder.pointee.maxThreads = 1
            encoder.pointee.speed = Int32(10 - min(max(options.effort ?? effort, 0), 9))
            let quantizer = Int32(((100 - Self.looks.own(quality)) * 63 + 50) / 100)
            encoder.pointee.minQuantizer = max(quantizer - 4, 0)
            encoder.pointee.maxQuantizer = min(quantizer + 4, 63)
            encoder.pointee.minQuantizerAlpha = 0
            encoder.pointee.maxQuantizerAlpha = 0
            var output = avifRWData()
            defer { avifRWDataFree(&output) }
            let result = avifEncoderWrite(encoder, image, &output)
            guard result == AVIF_RESULT_OK else { throw AVIFFile.error(result) }
            return ByteBuffer(bytes: UnsafeBufferPointer(start: output.data, count: output.size))
        }

        /// The colour space is sRGB (ITU-T H.273: 1, 13, 6) or the profile's; the orientation comes from EXIF.
        private static func describe(_ image: UnsafeMutablePointer<avifImage>, _ options: EncodeOptions) {
            image.pointee.yuvRange = AVIF_RANGE_FULL
            image.pointee.matrixCoefficients = 6
            if let profile = options.profile {
                avifImageSetProfileICC(image, profile, profile.count)
            } else {
                image.pointee.colorPrimaries = 1
                image.pointee.transferCharacteristics = 13
            }
            if let exif = options.exif { avifImageSetMetadataExif(image, exif, exif.count) }
        }

        private static func fill(_ image: UnsafeMutablePointer<avifImage>, from picture: borrowing PixelBuffer) throws(CodecError) {
            guard picture.layout.model == .rgb else { return try fill(image, from: try picture.grayInRGB()) }
            var source = avifRGBImage()
            avifRGBImageSetDefaults(&source, image)
            source.depth = 8
            source.format = picture.layout.hasAlpha ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB
            source.rowBytes = UInt32(picture.stride(of: 0))
            let result = picture.withPlane(0) { start in
                // libavif only reads here; its structure has no immutable form.
                source.pixels = UnsafeMutablePointer(mutating: start)
                return avifImageRGBToYUV(image, &source)
            }
            guard result == AVIF_RESULT_OK else { throw AVIFFile.error(result) }
        }
    }
#endif
