#if GIF
    public import OnesheetCore

    /// GIF (87a and 89a) with giflib: the first frame on its canvas. Only reads.
    ///
    /// Built with the package trait `GIF`, which is on by default.
    public struct GIFCodec: DecoderPlugin {
        public typealias Configuration = NoConfiguration

        public static let type = "gif"
        public static let sampleConfiguration = """
            type: gif
            """

        public var format: ImageFormat { .gif }

        public init() {}

        public init(_ configuration: NoConfiguration, context: PluginContext) { self.init() }

        public func recognizes(_ bytes: Span<UInt8>) -> Bool {
            bytes.withUnsafeBufferPointer { $0.starts(with: "GIF87a".utf8) || $0.starts(with: "GIF89a".utf8) }
        }

        public func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader {
            try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                let frame = try GIFReader(bytes, by: .never).frame
                return ImageHeader(
                    format: .gif, width: frame.canvas.width, height: frame.canvas.height, model: .rgb, hasAlpha: frame.hasAlpha,
                    isProgressive: frame.isInterlaced)
            }
        }

        /// Delivers rows as they are read, except for interlaced files, whose indices are kept in memory.
        ///
        /// If `request` accepts truncated pictures, missing rows are black, or transparent if the picture has alpha.
        public func decode<Sink: RowSink & ~Copyable>(
            _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
        ) throws(CodecError) {
            try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                let reader = try GIFReader(bytes, by: request.deadline)
                let canvas = reader.frame.canvas
                // Sides are below 2¹⁷, so the product fits an Int.
                guard canvas.width * canvas.height <= request.limits.pixels else {
                    throw .tooManyPixels(width: canvas.width, height: canvas.height, limit: request.limits.pixels)
                }
                if reader.frame.isInterlaced {
                    try GIFRows(reader.frame, by: request.deadline)
                        .deliverInterlaced(reader, isLenient: request.acceptsTruncated, into: &sink)
                } else {
                    try GIFRows(reader.frame, by: request.deadline)
                        .deliverInOrder(reader, isLenient: request.acceptsTruncated, into: &sink)
                }
            }
        }

        /// A row of indices and one of pixels, and giflib's tables; all indices if the file is interlaced.
        public func memoryToDecode(_ header: ImageHeader) -> Int {
            header.width * (header.isProgressive ? header.height : 1) + header.height + header.width * 4 + 1 << 17
        }
    }
#endif
