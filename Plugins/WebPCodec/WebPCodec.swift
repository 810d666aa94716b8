#if WebP
    internal import CWebP
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
            effort: 2
            # Whether files are lossless, which makes them several times larger.
            lossless: false
            """

        let effort: Int
        let isLossless: Bool

        public var format: ImageFormat { .webp }
        public var scales: Bool { true }
        public var usesQuality: Bool { !isLossless }

        /// - Parameters:
        ///   - effort: 0 to 9; used if `EncodeOptions.effort` is `nil`.
        ///   - lossless: whether files are lossless, whatever the requested quality.
        public init(effort: Int = 2, lossless: Bool = false) {
            precondition((0...9).contains(effort), "an effort is 0 to 9")
            self.effort = effort
            isLossless = lossless
        }

        /// - Throws: `ConfigurationError` if the effort is not 0 to 9.
        public init(_ configuration: Configuration, context: PluginContext) throws {
            let effort = configuration.effort ?? 2
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
                let exif = file.exif
                let tags = EXIF(tiff: exif ?? [])
                return ImageHeader(
                    format: .webp, width: file.width, height: file.height, model: .rgb, hasAlpha: file.hasAlpha,
                    orientation: tags.orientation, colors: file.profile.map { .icc($0) } ?? .sRGB, isProgressive: true,
                    copyright: tags.copyright, exif: exif)
            }
        }
    }
#endif
