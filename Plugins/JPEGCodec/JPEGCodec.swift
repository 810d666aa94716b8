import CJPEG
public import NIOCore
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
    /// The limit of libjpeg-turbo.
    public var longestSide: Int { 65_500 }
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
        // Four bytes for each of eight corners and each block of luma.
        let energies = padded(header.width) * padded(header.height) / 2
        return (header.isProgressive ? row * padded(header.height) * 17 / 8 + energies + rows : rows) + 1 << 18
    }

    /// All coefficients, two bytes each, and the file, which grows by doubling and is then copied. The noisiest picture takes thirteen
    /// bits a sample at full quality, and six if chroma is stored at half the resolution.
    public func memoryToEncode(_ layout: PixelLayout, _ options: EncodeOptions) -> Int {
        let pixels = ((layout.width + 31) & ~31) * ((layout.height + 31) & ~31)
        let isFine = options.quality >= Self.fullColorQuality || layout.model == .cmyk
        return pixels * (isFine ? 5 * layout.model.channels : 4) + pixels * layout.model.channels * 2 + 1 << 18
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

    /// Below this quality chroma is stored at half the resolution, as is usual. The loss is invisible there.
    static let fullColorQuality = 90

    /// Planar pictures keep their subsampling.
    public func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
        let layout = picture.layout
        guard !layout.hasAlpha else { throw .unsupported("transparency in JPEG") }
        guard max(layout.width, layout.height) <= longestSide else {
            throw .unsupported("more than 65,500 pixels to a side in JPEG")
        }
        var raw = cjpeg_picture()
        raw.width = Int32(layout.width)
        raw.height = Int32(layout.height)
        switch layout.model {
        case .gray: raw.colors = CJPEG_GRAY
        case .rgb: raw.colors = CJPEG_RGB
        case .cmyk: raw.colors = CJPEG_CMYK
        case .ycbcr:
            guard layout.isPlanar else { throw .unsupported("packed YCbCr") }
            raw.colors = CJPEG_YCBCR
        }
        let subsampling = layout.model == .rgb ? (options.quality < Self.fullColorQuality ? (2, 2) : (1, 1)) : layout.subsampling
        raw.subsampling_x = Int32(subsampling.0)
        raw.subsampling_y = Int32(subsampling.1)
        raw.quality = Int32(min(max(options.quality, 1), 100))
        raw.progressive = configuration.progressive
        raw.optimized = configuration.optimize || (options.effort ?? 0) >= 5
        return try write(picture, as: &raw, options)
    }

    private func write(
        _ picture: borrowing PixelBuffer, as raw: inout cjpeg_picture, _ options: EncodeOptions
    ) throws(CodecError) -> ByteBuffer {
        let planes = picture.layout.planes.count
        // The picture is borrowed, so it outlives the call.
        raw.planes.0 = picture.withPlane(0) { $0 }
        raw.strides.0 = picture.stride(of: 0)
        if planes > 2 {
            raw.planes.1 = picture.withPlane(1) { $0 }
            raw.planes.2 = picture.withPlane(2) { $0 }
            raw.strides.1 = picture.stride(of: 1)
            raw.strides.2 = picture.stride(of: 2)
        }
        return try (options.profile ?? []).withUnsafeBufferPointer { profile throws(CodecError) in
            try (options.exif ?? []).withUnsafeBufferPointer { exif throws(CodecError) in
                raw.icc = profile.baseAddress
                raw.icc_length = profile.count
                raw.exif = exif.isEmpty ? nil : exif.baseAddress
                raw.exif_length = exif.count
                return try options.deadline.withWatch { watch throws(CodecError) in
                    raw.watch = watch
                    return try run(raw)
                }
            }
        }
    }

    private func run(_ raw: cjpeg_picture) throws(CodecError) -> ByteBuffer {
        var raw = raw
        var bytes: UnsafeMutablePointer<UInt8>?
        var length = 0
        var message = [CChar](repeating: 0, count: Int(CJPEG_MESSAGE))
        let status = cjpeg_write(&raw, &bytes, &length, &message)
        guard status == CJPEG_OK, let bytes else {
            let text = String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw CodecError(status, text, scans: 0)
        }
        defer { cjpeg_free(bytes) }
        return ByteBuffer(bytes: UnsafeBufferPointer(start: bytes, count: length))
    }

    /// The reader for shrinking reads all pictures that it can in one pass: those with a target, of a common file. The library then
    /// reads the others, once for each of its scales.
    public func decode<Sink: RowSink>(
        _ bytes: Span<UInt8>, _ requests: [DecodeRequest], into sinks: inout [Sink]
    ) throws(CodecError) {
        guard requests.count > 1, requests.dropFirst().allSatisfy({ $0.withoutSize == requests[0].withoutSize }) else {
            return try decode(bytes, requests, pictures: requests, into: &sinks)
        }
        let (size, places) = try withReader(bytes) { reader throws(CodecError) in
            try requests[0].deadline.withWatch { watch throws(CodecError) in
                try reader.decodeSmall(requests, watch, into: &sinks)
            }
        }
        // The reader for shrinking is gone, so that one picture is decoded at a time.
        guard !places.isEmpty else { return }
        let large = places.map { requests[$0].withoutTarget }
        let scales = large.map { JPEGReader.eighths(width: size.width, height: size.height, for: $0) }
        var rest = places.map { sinks[$0] }
        try decode(bytes, large, pictures: scales, into: &rest)
        for (sink, place) in zip(rest, places) { sinks[place] = sink }
    }
}

extension JPEGReader {
    /// Decodes for all requests that the reader for shrinking serves, in one pass.
    /// - Precondition: the requests differ in their sizes only.
    /// - Returns: the file's size, and the places of the other requests.
    fileprivate borrowing func decodeSmall<Sink: RowSink>(
        _ requests: [DecodeRequest], _ watch: cjpeg_watch, into sinks: inout [Sink]
    ) throws(CodecError) -> (size: (width: Int, height: Int), others: [Int]) {
        let header = try readHeader(within: requests[0].limits)
        let size = (Int(header.width), Int(header.height))
        // The places of the requests for each pair of corners.
        var pictures: [(corners: cjpeg_corners, places: [Int])] = []
        var others: [Int] = []
        for (place, request) in requests.enumerated() {
            guard let corners = Self.corners(of: header, for: request) else {
                others.append(place)
                continue
            }
            if let known = pictures.firstIndex(where: { $0.corners.luma == corners.luma && $0.corners.chroma == corners.chroma }) {
                pictures[known].places.append(place)
            } else {
                pictures.append((corners, [place]))
            }
        }
        guard !pictures.isEmpty, let layouts = try start(pictures.map(\.corners), of: header, for: requests[0], watch: watch) else {
            return (size, Array(requests.indices))
        }
        for (picture, layout) in zip(pictures, layouts) {
            for place in picture.places { try sinks[place].begin(layout) }
        }
        var rows = [cjpeg_rows](repeating: cjpeg_rows(), count: pictures.count)
        while try next(&rows, of: header, requests[0]) {
            for (index, picture) in pictures.enumerated() {
                for place in picture.places {
                    try deliver(&rows[index], layouts[index], into: &sinks[place])
                }
            }
        }
        return (size, others)
    }
}

extension DecodeRequest {
    /// The request without a target: the library reads.
    fileprivate var withoutTarget: DecodeRequest {
        var request = self
        request.target = nil
        return request
    }

    /// What requests for several sizes of one picture have in common.
    fileprivate var withoutSize: DecodeRequest {
        var request = withoutTarget
        (request.minimumWidth, request.minimumHeight) = (0, 0)
        return request
    }
}
