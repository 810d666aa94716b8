#if HEIC
    public import OnesheetCore

    /// HEIC (ISO/IEC 23008-12 with HEVC) with libheif and libde265: the primary picture. Only reads.
    ///
    /// Built with the package trait `HEIC`, which is off by default.
    public struct HEICCodec: DecoderPlugin {
        public typealias Configuration = NoConfiguration

        public static let type = "heic"
        public static let sampleConfiguration = """
            type: heic
            """

        public var format: ImageFormat { .heic }

        public init() {}

        public init(_ configuration: NoConfiguration, context: PluginContext) { self.init() }

        public func recognizes(_ bytes: Span<UInt8>) -> Bool { ForeignFormat(of: bytes) == .heic }

        /// The size is that of the upright picture: libheif crops and turns it.
        public func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader {
            try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                let file = try HEICFile(bytes)
                let exif = file.exif.map(EXIF.upright)
                return ImageHeader(
                    format: .heic, width: file.width, height: file.height, model: .rgb, hasAlpha: file.hasAlpha,
                    colors: try file.colors, isProgressive: true, copyright: EXIF(tiff: exif ?? []).copyright, exif: exif)
            }
        }

        /// The picture; libheif's planes with at most two bytes a sample, their turned copy and its RGB; and libde265's pictures. All
        /// of them with the margin by which the coded pictures may exceed the visible one.
        public func memoryToDecode(_ header: ImageHeader) -> Int {
            let (pixels, overflow) = (header.width + HEICPictures.margin)
                .multipliedReportingOverflow(by: header.height + HEICPictures.margin)
            guard !overflow, pixels < 1 << 40 else { return .max / 2 }
            return header.width * header.height * 4 + pixels * 28 + 16 << 20
        }

        /// The whole picture is in memory during decoding, in one call of libheif, which is not interrupted. A truncated file is an
        /// error even if `request` accepts it.
        public func decode<Sink: RowSink & ~Copyable>(
            _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
        ) throws(CodecError) {
            try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                let file = try HEICFile(bytes)
                guard file.width * file.height <= request.limits.pixels else {
                    throw .tooManyPixels(width: file.width, height: file.height, limit: request.limits.pixels)
                }
                _ = try file.colors
                try request.deadline.check()
                let picture = try file.decode()
                let layout = PixelLayout(width: file.width, height: file.height, model: .rgb, hasAlpha: file.hasAlpha)
                try sink.begin(layout)
                let size = layout.width * layout.planes[0].channels
                var pixels = [UInt8](repeating: 0, count: size)
                var watch = DeadlineWatch(request.deadline)
                for y in 0..<layout.height {
                    try watch.row(samples: size)
                    picture.copyRow(y, to: &pixels, unmultiplied: file.isPremultiplied)
                    try sink.row(pixels.span, plane: 0, y: y)
                }
            }
        }
    }
#endif
