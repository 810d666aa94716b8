#if JXL
    internal import CJXL
    public import OnesheetCore

    /// JPEG XL (ISO/IEC 18181) with libjxl: the first frame, with the layers that belong to it. Only reads.
    ///
    /// Built with the package trait `JXL`, which is off by default.
    public struct JPEGXLCodec: DecoderPlugin {
        public typealias Configuration = NoConfiguration

        public static let type = "jxl"
        public static let sampleConfiguration = """
            type: jxl
            """

        public var format: ImageFormat { .jxl }

        public init() {}

        public init(_ configuration: NoConfiguration, context: PluginContext) { self.init() }

        public func recognizes(_ bytes: Span<UInt8>) -> Bool {
            bytes.withUnsafeBufferPointer { bytes in
                let signature = JxlSignatureCheck(bytes.baseAddress, bytes.count)
                return signature == JXL_SIG_CODESTREAM || signature == JXL_SIG_CONTAINER
            }
        }

        public func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader {
            try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                var file = try JXLFile(bytes, by: .never)
                let exif = JXLBoxes.exif(bytes)
                return ImageHeader(
                    format: .jxl, width: file.layout.width, height: file.layout.height, model: file.layout.model,
                    hasAlpha: file.layout.hasAlpha, orientation: file.orientation, colors: try file.colors(), isProgressive: true,
                    copyright: EXIF(tiff: exif ?? []).copyright, exif: exif)
            }
        }

        /// The picture, libjxl's samples of four bytes, twice, and a copy for frames on which the first one is based.
        public func memoryToDecode(_ header: ImageHeader) -> Int {
            let (pixels, overflow) = header.width.multipliedReportingOverflow(by: header.height)
            guard !overflow, pixels < 1 << 40 else { return .max / 2 }
            let layout = PixelLayout(width: header.width, height: header.height, model: header.model, hasAlpha: header.hasAlpha)
            return PixelBuffer.bytes(for: layout) + pixels * 48 + 16 << 20
        }

        /// The whole picture is in memory during decoding. libjxl works on this thread only, and the deadline is checked
        /// between the pieces of the file that it is given.
        ///
        /// If `request` accepts truncated pictures, missing parts are what libjxl makes of the rest of the file.
        public func decode<Sink: RowSink & ~Copyable>(
            _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
        ) throws(CodecError) {
            let picture = try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                var file = try JXLFile(bytes, by: request.deadline)
                let (width, height) = (file.layout.width, file.layout.height)
                let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
                guard !overflow, pixels <= request.limits.pixels else {
                    throw .tooManyPixels(width: width, height: height, limit: request.limits.pixels)
                }
                try request.deadline.check()
                _ = try file.colors()
                return try file.decode(limits: request.limits, isLenient: request.acceptsTruncated)
            }
            try sink.begin(picture.layout)
            var watch = DeadlineWatch(request.deadline)
            for y in 0..<picture.layout.height {
                try watch.row(samples: picture.layout.width * picture.layout.planes[0].channels)
                try picture.withRow(y) { row throws(CodecError) in try sink.row(row, plane: 0, y: y) }
            }
        }
    }
#endif
