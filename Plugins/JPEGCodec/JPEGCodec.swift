import CJPEG
public import OnesheetCore

/// JPEG with libjpeg-turbo: baseline, progressive and arithmetic; gray, YCbCr, RGB, CMYK and YCCK.
///
/// If the request accepts planes, decoding delivers Y, Cb and Cr as stored. It scales by 1/8, 1/4, 1/2 or 1, which the library
/// computes with vector instructions. If the request names the size of the result, a reader for shrinking delivers common files at
/// 1/8 to 8/8 in less time.
public struct JPEGCodec: CodecPlugin {
    public static let type = "jpeg"
    public static let sampleConfiguration = """
        # Both make files smaller and cost time; a server under load should leave them off.
        progressive: false   # the browser shows a coarse picture first; about 3 % smaller
        # Huffman tables made for each picture: about 3 % smaller for 5 to 20 % more time. Small variants of large originals, for which
        # they take less, have them anyway.
        optimize: false

        """

    /// The settings of the encoder.
    public struct Configuration: Decodable, Sendable {
        public var progressive = false
        public var optimize = false

        private enum CodingKeys: CodingKey {
            case progressive, optimize
        }

        public init() {}

        public init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            progressive = try keys.decodeIfPresent(Bool.self, forKey: .progressive) ?? false
            optimize = try keys.decodeIfPresent(Bool.self, forKey: .optimize) ?? false
        }
    }

    public var format: ImageFormat { .jpeg }
    public var encodesPlanar: Bool { true }
    public var scales: Bool { true }
    let configuration: Configuration

    public init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    public init(_ configuration: Configuration, context: PluginContext) { self.init(configuration) }

    public func recognizes(_ bytes: Span<UInt8>) -> Bool {
        bytes.count >= 3 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF
    }

    public func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader {
        try withReader(bytes) { reader throws(CodecError) in try reader.header() }
    }

    public func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        try withReader(bytes) { reader throws(CodecError) in
            try request.deadline.withWatch { watch throws(CodecError) in try reader.decode(request, watch, into: &sink) }
        }
    }

    /// A file of one scan is decoded row by row. For others all coefficients are stored, two bytes each, for whole groups of blocks,
    /// which are up to 32 pixels wide and high; the reader for shrinking stores a bit more for each.
    public func memoryToDecode(_ header: ImageHeader) -> Int {
        func padded(_ side: Int) -> Int { (side + 31) & ~31 }
        let row = padded(header.width) * header.model.channels
        // Rows of samples and the library's buffers for a group of blocks and its neighbours.
        let rows = row * 32 * 6
        return (header.isProgressive ? row * padded(header.height) * 17 / 8 + rows : rows) + 1 << 18
    }

    /// The library's coefficients, if a file is written in several passes, and the file, which grows by doubling and is then
    /// copied. The noisiest picture takes ten bits a sample at full quality, and six if chroma is stored at half the resolution.
    public func memoryToEncode(_ layout: PixelLayout, _ options: EncodeOptions) -> Int {
        let pixels = ((layout.width + 31) & ~31) * ((layout.height + 31) & ~31)
        let isFine = options.quality >= Self.fullColorQuality || layout.model == .cmyk
        let passes = configuration.progressive || configuration.optimize || (options.effort ?? 0) >= 5
        return pixels * (isFine ? 4 * layout.model.channels : 4) + (passes ? pixels * layout.model.channels * 2 : 0) + 1 << 18
    }

    /// Calls `body` with a reader of `bytes`, which is valid during the call only.
    func withReader<Result>(
        _ bytes: Span<UInt8>, _ body: (borrowing JPEGReader) throws(CodecError) -> Result
    ) throws(CodecError) -> Result {
        try bytes.withUnsafeBufferPointer { bytes throws(CodecError) in
            let reader = try JPEGReader(bytes)
            return try body(reader)
        }
    }
}
