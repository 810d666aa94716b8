internal import CPNG
public import NIOCore
public import OnesheetCore

/// PNG (W3C Recommendation, third edition; ISO/IEC 15948): every colour type, depth and interlacing. Decodes the default image of
/// an animation.
///
/// Files without interlacing are inflated through a window, so that no picture is in memory as a whole. libpng reads what is interlaced or
/// damaged.
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
            let header = try PNGReader(bytes, lenient: false).header
            return header.imageHeader(colors: try file.colors() ?? header.colors, exif: file.exif())
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

    /// The level of libdeflate for each effort. Level 4 takes a quarter more time than level 2, and level 5 twice the time, for one or two
    /// percent each.
    private static let levels: [Int32] = [1, 2, 2, 3, 4, 5, 6, 8, 10, 12]

    /// Writes gray, a palette or fewer bits if that loses nothing. Omits alpha if the picture is opaque.
    ///
    /// - Throws: `CodecError.unsupported` for planar and CMYK pictures, and for a profile of another colour space.
    public func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
        let layout = picture.layout
        guard layout.model == .gray || layout.model == .rgb else { throw .unsupported("\(layout.model) pixels in PNG") }
        let effort = min(max(options.effort ?? self.effort, 0), 9)
        let profile: ICCColors? = if let profile = options.profile { try ICCColors(profile) } else { nil }
        let pixels = PackedPixels(
            width: layout.width, height: layout.height, stride: picture.stride(of: 0), channels: layout.planes[0].channels)
        return try picture.withPlane(0) { (rows) throws(CodecError) in
            var survey = cpng_survey()
            cpng_look(rows, pixels.stride, pixels.width, pixels.height, Int32(pixels.channels), &survey)
            let form = try PNGForm(survey, profile: profile, width: pixels.width, height: pixels.height)
            var best: Deflated?
            for filtering in form.filterings(effort: effort) {
                let made = try pixels.compress(
                    rows, survey: &survey, as: form, filtering: filtering, level: Self.levels[effort], by: options.deadline)
                if made.count < best?.count ?? .max { best = made }
            }
            var file = PNGWriter(
                capacity: (best?.count ?? 0) + (options.profile?.count ?? 0) + (options.exif?.count ?? 0) + 2048)
            file.add("IHDR", Self.header(pixels, form))
            if let profile = options.profile {
                try Deflated(profile, level: Self.levels[effort]).withBytes { file.add("iCCP", Array("icc\0\0".utf8) + $0) }
            }
            if form.isPalette { Self.addPalette(survey, to: &file) }
            if let exif = options.exif { file.add("eXIf", exif) }
            best?.withBytes { file.add("IDAT", $0) }
            file.add("IEND", [])
            return file.file
        }
    }

    /// The filtered picture, its compressed form with room for all of it, a second attempt, and the file.
    public func memoryToEncode(_ layout: PixelLayout, _ options: EncodeOptions) -> Int {
        let tries = (options.effort ?? effort) > 7 ? 2 : 1
        let filtered = (layout.width * layout.planes[0].channels + 1) * layout.height
        return filtered * (2 + tries) + layout.width * 16 + 4 << 20
    }

    private static func header(_ pixels: PackedPixels, _ form: PNGForm) -> [UInt8] {
        var sides = ByteBuffer(integer: UInt32(pixels.width))
        sides.writeInteger(UInt32(pixels.height))
        // The compression, filter and interlace methods are 0.
        return Array(sides.readableBytesView) + [UInt8(form.depth), UInt8(form.colorType), 0, 0, 0]
    }

    private static func addPalette(_ survey: cpng_survey, to file: inout PNGWriter) {
        withUnsafeBytes(of: survey.palette) { bytes in
            let entries = (0..<Int(survey.colors)).map { bytes[($0 * 4)..<($0 * 4 + 4)] }
            file.add("PLTE", entries.flatMap { $0.prefix(3) })
            // Opaque entries come last and are omitted.
            let alphas = entries.compactMap(\.last).prefix { $0 < 255 }
            if !alphas.isEmpty { file.add("tRNS", alphas) }
        }
    }
}

/// Writes a PNG file chunk by chunk (W3C, third edition, §5.3).
struct PNGWriter {
    private(set) var file: ByteBuffer

    /// - Parameter capacity: the expected bytes.
    init(capacity: Int) {
        file = ByteBuffer()
        file.reserveCapacity(capacity)
        file.writeBytes([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    }

    mutating func add(_ name: String, _ bytes: some Sequence<UInt8>) {
        let start = file.writerIndex
        file.writeInteger(UInt32(0))
        file.writeString(name)
        let size = file.writeBytes(bytes)
        file.setInteger(UInt32(size), at: start)
        let crc = file.withUnsafeReadableBytes { whole in
            let named = UnsafeRawBufferPointer(rebasing: whole[(start + 4)...]).assumingMemoryBound(to: UInt8.self)
            return cpng_crc(0, named.baseAddress, named.count)
        }
        file.writeInteger(crc)
    }
}
