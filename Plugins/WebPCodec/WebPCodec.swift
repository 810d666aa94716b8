#if WebP
    internal import CWebP
    public import NIOCore
    public import OnesheetCore

    /// WebP (RFC 9649) with libwebp: lossy and lossless, with alpha. Decodes the first frame of an animation on its canvas.
    ///
    /// Built with the package trait `WebP`, which is on by default.
    public struct WebPCodec: CodecPlugin {
        /// The settings.
        public struct Configuration: Decodable, Sendable {
            /// 0 to 9: the default effort for a smaller file.
            public var effort: Int?
            /// Whether files are lossless, which makes them several times larger.
            public var lossless: Bool?

            public init(effort: Int? = nil, lossless: Bool? = nil) {
                self.effort = effort
                self.lossless = lossless
            }
        }

        public static let type = "webp"
        public static let sampleConfiguration = """
            type: webp
            # 0 to 9: the effort for a smaller file.
            effort: 4
            # Whether files are lossless, which makes them several times larger.
            lossless: false
            """

        let effort: Int
        let isLossless: Bool

        public var format: ImageFormat { .webp }
        public var scales: Bool { true }
        public var encodesGray: Bool { false }
        public var usesQuality: Bool { !isLossless }
        public var longestSide: Int { Int(WEBP_MAX_DIMENSION) }

        /// - Parameters:
        ///   - effort: 0 to 9; used if `EncodeOptions.effort` is `nil`.
        ///   - lossless: whether files are lossless, whatever the requested quality.
        public init(effort: Int = 4, lossless: Bool = false) {
            precondition((0...9).contains(effort), "an effort is 0 to 9")
            self.effort = effort
            isLossless = lossless
        }

        /// - Throws: `ConfigurationError` if the effort is not 0 to 9.
        public init(_ configuration: Configuration, context: PluginContext) throws {
            let effort = configuration.effort ?? 4
            guard (0...9).contains(effort) else {
                throw ConfigurationError(path: "effort", message: "“\(effort)” is not 0 to 9")
            }
            self.init(effort: effort, lossless: configuration.lossless ?? false)
        }

        public func recognizes(_ bytes: Span<UInt8>) -> Bool {
            bytes.withUnsafeBufferPointer { $0.starts(with: "RIFF".utf8) && $0.dropFirst(8).starts(with: "WEBP".utf8) }
        }

        public func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader {
            try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                let file = try WebPFile(bytes, acceptsTruncated: true)
                // Browsers ignore an orientation in WebP, so it must not turn the picture in another format either.
                let exif = file.exif.map(EXIF.upright(tiff:))
                return ImageHeader(
                    format: .webp, width: file.width, height: file.height, model: .rgb, hasAlpha: file.hasAlpha,
                    colors: file.profile.map { .icc($0) } ?? .sRGB, isProgressive: true,
                    copyright: EXIF(tiff: exif ?? []).copyright, exif: exif)
            }
        }

        /// The method of libwebp, 0 to 6, for each effort.
        private static let methods: [Int32] = [0, 0, 1, 2, 3, 3, 4, 5, 6, 6]

        /// libwebp's qualities that look like JPEG: those with its SSIMULACRA2 in the mean of posters, letters and grain.
        static let looks = QualityCurve([
            (1, 1), (10, 3), (20, 7), (30, 25), (40, 39), (50, 53), (60, 62), (70, 75), (80, 82), (85, 86), (90, 91), (100, 100),
        ])

        /// - Throws: `CodecError.unsupported` for planar and CMYK pictures, and for sides of more than 16383 pixels.
        public func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
            let layout = picture.layout
            guard layout.model == .gray || layout.model == .rgb else { throw .unsupported("\(layout.model) pixels in WebP") }
            guard max(layout.width, layout.height) <= longestSide else {
                throw .unsupported("\(layout.width) × \(layout.height) pixels in WebP")
            }
            var config = WebPConfig()
            guard WebPConfigInit(&config) != 0 else { throw .unsupported("this version of libwebp") }
            config.quality = Float(Self.looks.own(options.quality))
            config.method = Self.methods[min(max(options.effort ?? effort, 0), 9)]
            if isLossless {
                config.lossless = 1
                config.exact = 1
                config.quality = 75
            }
            let stream =
                layout.model == .rgb
                ? try Self.encode(picture, &config, by: options.deadline)
                : try Self.encode(try picture.grayInRGB(), &config, by: options.deadline)
            guard options.profile != nil || options.exif != nil else { return stream }
            return WebPChunks(stream).file(layout, profile: options.profile, exif: options.exif)
        }

        /// The pixels in the form of libwebp, its tables for repetitions, and the file, which grows by doubling.
        public func memoryToEncode(_ layout: PixelLayout, _ options: EncodeOptions) -> Int {
            layout.width * layout.height * (isLossless ? 32 : 20) + 1 << 20
        }

        private static func encode(
            _ picture: borrowing PixelBuffer, _ config: inout WebPConfig, by deadline: Deadline
        ) throws(CodecError) -> ByteBuffer {
            let layout = picture.layout
            let stride = Int32(picture.stride(of: 0))
            var writer = WebPMemoryWriter()
            WebPMemoryWriterInit(&writer)
            defer { WebPMemoryWriterClear(&writer) }
            var input = WebPPicture()
            guard WebPPictureInit(&input) != 0 else { throw .unsupported("this version of libwebp") }
            defer { WebPPictureFree(&input) }
            input.use_argb = config.lossless
            input.width = Int32(layout.width)
            input.height = Int32(layout.height)
            let isDone = withUnsafeMutablePointer(to: &writer) { writer in
                withUnsafePointer(to: deadline) { deadline in
                    input.writer = WebPMemoryWrite
                    input.custom_ptr = UnsafeMutableRawPointer(writer)
                    // libwebp passes the pointer back and writes nothing.
                    input.user_data = UnsafeMutableRawPointer(mutating: deadline)
                    input.progress_hook = { _, picture in
                        guard let deadline = picture?.pointee.user_data?.assumingMemoryBound(to: Deadline.self) else { return 1 }
                        return deadline.pointee.hasPassed ? 0 : 1
                    }
                    let isIn = picture.withPlane(0) {
                        layout.hasAlpha ? WebPPictureImportRGBA(&input, $0, stride) : WebPPictureImportRGB(&input, $0, stride)
                    }
                    return isIn != 0 && WebPEncode(&config, &input) != 0
                }
            }
            guard isDone else {
                if input.error_code == VP8_ENC_ERROR_USER_ABORT { throw .timedOut }
                throw input.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY
                    ? .outOfMemory : .unsupported("libwebp's error \(input.error_code.rawValue) while encoding")
            }
            return ByteBuffer(bytes: UnsafeBufferPointer(start: writer.mem, count: writer.size))
        }
    }
#endif
