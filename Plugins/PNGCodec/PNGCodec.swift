internal import CPNG
public import OnesheetCore

/// PNG (W3C Recommendation, third edition; ISO/IEC 15948): every colour type, depth and interlacing. Decodes the default image of
/// an animation.
///
/// libdeflate inflates the usual kind, 8 bits and not interlaced, at once if it is intact. libpng reads everything else.
public struct PNGCodec: CodecPlugin {
    /// The settings.
    public struct Configuration: Decodable, Sendable {
        /// 0 to 9: the default effort for a smaller file.
        public var effort: Int?
        /// The most memory for inflating a picture at once. Larger ones are decoded row by row, which is slower.
        public var inflateAtOnce: ByteSize?

        public init(effort: Int? = nil, inflateAtOnce: ByteSize? = nil) {
            self.effort = effort
            self.inflateAtOnce = inflateAtOnce
        }
    }

    public static let type = "png"
    public static let sampleConfiguration = """
        type: png
        # 0 to 9: the effort for a smaller file.
        effort: 4
        # The largest picture that is inflated at once, which is faster; larger ones are decoded row by row.
        inflateAtOnce: 32MiB
        """

    let effort: Int
    let inflateAtOnce: Int

    public var format: ImageFormat { .png }
    public var usesQuality: Bool { false }

    /// - Parameters:
    ///   - effort: 0 to 9; used if `EncodeOptions.effort` is `nil`.
    ///   - inflateAtOnce: the most bytes of a decoded picture for the fast way; 0 always uses libpng.
    public init(effort: Int = 4, inflateAtOnce: Int = 32 << 20) {
        precondition((0...9).contains(effort), "an effort is 0 to 9")
        self.effort = effort
        self.inflateAtOnce = inflateAtOnce
    }

    /// - Throws: `ConfigurationError` if the effort is not 0 to 9.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        let effort = configuration.effort ?? 4
        guard (0...9).contains(effort) else {
            throw ConfigurationError(path: "effort", message: "“\(effort)” is not 0 to 9")
        }
        self.init(effort: effort, inflateAtOnce: configuration.inflateAtOnce?.bytes ?? 32 << 20)
    }

    public func recognizes(_ bytes: Span<UInt8>) -> Bool {
        bytes.withUnsafeBufferPointer { PNGFile($0).hasSignature }
    }

    public func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader {
        try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
            let file = PNGFile(bytes)
            try file.checkSize(atMost: .max)
            return try PNGReader(bytes, lenient: false).header.imageHeader(exif: try file.exif())
        }
    }
}

extension PNGCodec {
    /// Delivers rows as they are read, except for interlaced files, which are kept in memory.
    ///
    /// If `request` accepts truncated pictures, missing rows are black, or transparent if the picture has alpha.
    public func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
            try PNGFile(bytes).checkSize(atMost: request.limits.pixels)
            let reader = try PNGReader(bytes, lenient: request.acceptsTruncated)
            if reader.header.isInterlaced {
                try InterlacedRows(reader, limits: request.limits, by: request.deadline)
                    .deliver(reader, by: request.deadline, into: &sink)
            } else if let rows = InflatedRows.inflating(reader, limit: inflateAtOnce) {
                try rows.deliver(reader, by: request.deadline, into: &sink)
            } else {
                try StreamedRows(reader).deliver(reader, by: request.deadline, into: &sink)
            }
        }
    }

    /// Interlaced pictures are in memory as a whole. Others are too, inflated and as in the file, if both are small enough;
    /// otherwise they are decoded row by row.
    public func memoryToDecode(_ header: ImageHeader) -> Int {
        let layout = PixelLayout(width: header.width, height: header.height, model: header.model, hasAlpha: header.hasAlpha)
        // libpng's rows have 16 bits, and there are several of them.
        let row = layout.width * layout.planes[0].channels
        let rows = row * 2 * 8 + 1 << 18
        if header.isProgressive { return PixelBuffer.bytes(for: layout) + rows }
        return 2 * min(inflateAtOnce, (row + 1) * layout.height) + rows
    }
}
