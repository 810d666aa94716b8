internal import CPNG
public import OnesheetCore

/// PNG (W3C Recommendation, third edition; ISO/IEC 15948): every colour type, depth and interlacing. Decodes the default image of
/// an animation.
///
/// Intact files without interlacing are read through the window of deflate, 32 KiB, so that no picture is in memory as a whole. libpng
/// reads everything else.
public struct PNGCodec: CodecPlugin {
    /// The settings.
    public struct Configuration: Decodable, Sendable {
        /// 0 to 9: the default effort for a smaller file.
        public var effort: Int?
        /// Whether libpng, the reference, reads all files, which takes twice the time.
        public var onlyLibpng: Bool?
        /// A key of former versions: 0 means `onlyLibpng`, and other sizes have no effect.
        public var inflateAtOnce: ByteSize?

        public init(effort: Int? = nil, onlyLibpng: Bool? = nil, inflateAtOnce: ByteSize? = nil) {
            self.effort = effort
            self.onlyLibpng = onlyLibpng
            self.inflateAtOnce = inflateAtOnce
        }
    }

    public static let type = "png"
    public static let sampleConfiguration = """
        type: png
        # 0 to 9: the effort for a smaller file.
        effort: 2
        # Whether libpng reads all files, which takes twice the time.
        onlyLibpng: false
        """

    let effort: Int
    let onlyLibpng: Bool

    public var format: ImageFormat { .png }
    public var usesQuality: Bool { false }

    /// - Parameters:
    ///   - effort: 0 to 9; used if `EncodeOptions.effort` is `nil`.
    ///   - onlyLibpng: whether libpng reads all files.
    public init(effort: Int = 2, onlyLibpng: Bool = false) {
        precondition((0...9).contains(effort), "an effort is 0 to 9")
        self.effort = effort
        self.onlyLibpng = onlyLibpng
    }

    /// - Throws: `ConfigurationError` if the effort is not 0 to 9.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        let effort = configuration.effort ?? 2
        guard (0...9).contains(effort) else {
            throw ConfigurationError(path: "effort", message: "“\(effort)” is not 0 to 9")
        }
        self.init(effort: effort, onlyLibpng: configuration.onlyLibpng ?? (configuration.inflateAtOnce?.bytes == 0))
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
            } else {
                try StreamedRows(isFast: !onlyLibpng).deliver(reader, by: request.deadline, into: &sink)
            }
        }
    }

    /// Interlaced pictures are in memory as a whole. Of others there are a few rows, with up to 16 bits per sample, and the window of
    /// deflate.
    public func memoryToDecode(_ header: ImageHeader) -> Int {
        let layout = PixelLayout(width: header.width, height: header.height, model: header.model, hasAlpha: header.hasAlpha)
        // libpng's rows have 16 bits, and there are several of them.
        let row = layout.width * layout.planes[0].channels
        let rows = row * 2 * 8 + 1 << 18
        return (header.isProgressive ? PixelBuffer.bytes(for: layout) : 0) + rows
    }
}
