#if AVIF
    internal import CAVIF
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
    }
#endif
