#if TIFF
    public import OnesheetCore

    /// TIFF (6.0 and BigTIFF) with libtiff: the picture of the first directory. Only reads.
    ///
    /// Built with the package trait `TIFF`, which is off by default.
    public struct TIFFCodec: DecoderPlugin {
        public typealias Configuration = NoConfiguration

        public static let type = "tiff"
        public static let sampleConfiguration = """
            type: tiff
            """

        public var format: ImageFormat { .tiff }

        public init() {}

        public init(_ configuration: NoConfiguration, context: PluginContext) { self.init() }

        public func recognizes(_ bytes: Span<UInt8>) -> Bool {
            bytes.withUnsafeBufferPointer { bytes in
                ["II*\0", "MM\0*", "II+\0", "MM\0+"].contains { bytes.starts(with: $0.utf8) }
            }
        }

        public func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader {
            try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                try TIFFFile(bytes, largestAllocation: TIFFFile.largestDirectory).header
            }
        }

        /// Delivers rows as they are read, or rows of tiles, which may be as high as the picture.
        ///
        /// If `request` accepts truncated pictures, missing rows are black, without ink, or transparent if the picture has alpha.
        public func decode<Sink: RowSink & ~Copyable>(
            _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
        ) throws(CodecError) {
            try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                let header = try TIFFFile(bytes, largestAllocation: TIFFFile.largestDirectory).header
                let (pixels, overflow) = header.width.multipliedReportingOverflow(by: header.height)
                guard !overflow, pixels <= request.limits.pixels else {
                    throw .tooManyPixels(width: header.width, height: header.height, limit: request.limits.pixels)
                }
                try request.deadline.check()
                // Opened again, so that no allocation exceeds the prediction.
                let file = try TIFFFile(bytes, largestAllocation: memoryToDecode(header))
                try TIFFRows(file.form, by: request.deadline).deliver(file, isLenient: request.acceptsTruncated, into: &sink)
            }
        }

        /// A row of at most six samples of two bytes and its forms in eight bits. For tiles, planes and JPEG, all rows: tiles may be
        /// as large as the picture, and a progressive JPEG has two bytes for each sample. Besides, the places of strips.
        public func memoryToDecode(_ header: ImageHeader) -> Int {
            let samples = header.model.channels + TIFFForm.mostExtraSamples
            let rows = header.isProgressive ? header.height + TIFFForm.smallTile : 4
            let (pixels, overflow) = header.width.multipliedReportingOverflow(by: rows)
            guard !overflow, pixels < 1 << 40 else { return .max / 2 }
            return pixels * samples * 3 + header.width * 64 + header.height * samples * 32 + TIFFForm.smallTile << 14 + 4 << 20
        }
    }
#endif
