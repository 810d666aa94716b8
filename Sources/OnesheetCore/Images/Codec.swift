public import NIOCore

/// Decodes one image format. Everything here is synchronous and runs in a render process, which reaches no file and no network, or on a
/// worker thread.
public protocol ImageDecoder: Sendable {
    var format: ImageFormat { get }

    /// Whether `bytes` begin like a file of this format. Media types and extensions are unreliable and not considered.
    func recognizes(_ bytes: Span<UInt8>) -> Bool

    /// Reads the facts known before decoding: size, orientation, colours.
    /// - Throws: `CodecError` if the header is damaged or needs a feature that this codec does not support.
    func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader

    /// Decodes into `sink` row by row, so that the whole picture need not be in memory.
    ///
    /// If `request` allows it, the decoder may deliver a smaller picture. A warning of the decoder is an error unless the request
    /// accepts it.
    /// - Throws: `CodecError`, and any error of the sink.
    func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError)

    /// Whether `decode` ever delivers a smaller picture than the file's; `false` by default. Only then do requests name sizes.
    var scales: Bool { get }

    /// Decodes one file for several requests, each into the sink in its place. Each sink gets the layout and the rows that it would
    /// get alone.
    ///
    /// The default decodes once for each different request. A decoder that scales may save passes over the file.
    /// - Throws: the error that one of the requests has alone.
    func decode<Sink: RowSink>(
        _ bytes: Span<UInt8>, _ requests: [DecodeRequest], into sinks: inout [Sink]
    ) throws(CodecError)

    /// The most bytes that `decode` allocates for a file with this header, not counting the file, for any number of requests.
    func memoryToDecode(_ header: ImageHeader) -> Int
}

extension ImageDecoder {
    public var scales: Bool { false }

    public func decode<Sink: RowSink>(
        _ bytes: Span<UInt8>, _ requests: [DecodeRequest], into sinks: inout [Sink]
    ) throws(CodecError) {
        try decode(bytes, requests, pictures: requests, into: &sinks)
    }

    /// Sixteen bytes a pixel: the picture, and twice as much for a decoder with buffers of its own.
    public func memoryToDecode(_ header: ImageHeader) -> Int { header.width * header.height * 16 + 1 << 20 }
}

/// Decodes and encodes one image format, as `ImageDecoder` does.
public protocol Codec: ImageDecoder {
    /// Whether `encode` accepts Y, Cb and Cr planes; `false` by default.
    var encodesPlanar: Bool { get }

    /// Whether files can be gray, so that a profile of gray describes them; `true` by default.
    var encodesGray: Bool { get }

    /// Whether files depend on `EncodeOptions.quality`; `true` by default.
    var usesQuality: Bool { get }

    /// The most pixels of a side that `encode` accepts; no limit by default. A longer one is refused before anything is decoded.
    var longestSide: Int { get }

    /// Encodes a picture.
    /// - Throws: `CodecError.unsupported` if the format cannot hold such pixels.
    func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer

    /// The most bytes that `encode` allocates for such a picture, including its output and not counting the picture.
    func memoryToEncode(_ layout: PixelLayout, _ options: EncodeOptions) -> Int
}

extension Codec {
    public var encodesPlanar: Bool { false }
    public var encodesGray: Bool { true }
    public var usesQuality: Bool { true }
    public var longestSide: Int { .max }

    /// Forty-eight bytes a pixel: about the need of the most demanding encoders.
    public func memoryToEncode(_ layout: PixelLayout, _ options: EncodeOptions) -> Int {
        layout.width * layout.height * 48 + 1 << 20
    }
}

/// Receives the rows of a picture from a decoder.
public protocol RowSink: ~Copyable {
    /// Called once, before the first row, with the layout that the decoder delivers.
    mutating func begin(_ layout: PixelLayout) throws(CodecError)

    /// Receives row `y` of plane `plane`. `samples` holds at least width × channels bytes of the plane and is valid during the call
    /// only. Within a plane, rows come once each and from top to bottom; planes may alternate.
    mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) throws(CodecError)

    /// Receives row `y` of plane 0 from a decoder that scales, and what it has left out: for each sample, the variance of the file's
    /// samples around it beyond what the delivered ones show, in squares of a step of a sample, at most 16,383. Averages in linear
    /// light need it. All rows of plane 0 come with it, or none. The default ignores it.
    mutating func row(_ samples: Span<UInt8>, variances: Span<UInt16>, y: Int) throws(CodecError)
}

extension RowSink where Self: ~Copyable {
    public mutating func row(_ samples: Span<UInt8>, variances: Span<UInt16>, y: Int) throws(CodecError) {
        try row(samples, plane: 0, y: y)
    }
}

/// The caller's wishes for a decoder.
public struct DecodeRequest: Sendable, Equatable {
    /// The size of the whole picture (before orientation) once it is resampled.
    public struct Target: Sendable, Equatable {
        /// In pixels, and not whole if only a part of the picture is used.
        public var width: Double
        public var height: Double
        /// Luma pixels per chroma pixel of the result, in each direction.
        public var chroma: Int

        public init(width: Double, height: Double, chroma: Int = 1) {
            self.width = width
            self.height = height
            self.chroma = chroma
        }
    }

    /// The decoder may deliver a smaller picture in the same proportions, with at least this many pixels on each side (before
    /// orientation). 0 allows any size; a value above the picture's size asks for the full size.
    public var minimumWidth: Int
    public var minimumHeight: Int
    /// The size to which the picture will be resampled, if it is known. A decoder whose scaling is as good as the resampler's may
    /// deliver less than `minimumWidth` and `minimumHeight` then, in the same proportions.
    public var target: Target?
    /// Whether the decoder may deliver Y, Cb and Cr planes instead of RGB.
    public var acceptsPlanar: Bool
    /// Whether the picture will be averaged in linear light. A decoder delivers less than the file has only with the variances of what
    /// it leaves out then.
    public var averagesLight: Bool
    /// Whether a truncated picture is decoded as far as it goes.
    public var acceptsTruncated: Bool
    public var limits: Limits
    /// The deadline for decoding.
    public var deadline: Deadline

    public init(
        minimumWidth: Int = .max, minimumHeight: Int = .max, target: Target? = nil, acceptsPlanar: Bool = false,
        averagesLight: Bool = false, acceptsTruncated: Bool = false, limits: Limits = Limits(), deadline: Deadline = .never
    ) {
        self.minimumWidth = minimumWidth
        self.minimumHeight = minimumHeight
        self.target = target
        self.acceptsPlanar = acceptsPlanar
        self.averagesLight = averagesLight
        self.acceptsTruncated = acceptsTruncated
        self.limits = limits
        self.deadline = deadline
    }
}

/// The settings of an encoder.
public struct EncodeOptions: Sendable, Equatable {
    /// 1 to 100, for lossy formats.
    public var quality: Int
    /// The effort spent on a smaller file, 0 to 9; `nil` is the codec's default.
    public var effort: Int?
    /// An ICC profile to embed; `nil` embeds none and means sRGB.
    public var profile: [UInt8]?
    /// A TIFF structure (EXIF without its marker) to embed.
    public var exif: [UInt8]?
    /// The deadline for encoding.
    public var deadline: Deadline

    public init(
        quality: Int = Transform.defaultQuality, effort: Int? = nil, profile: [UInt8]? = nil, exif: [UInt8]? = nil,
        deadline: Deadline = .never
    ) {
        self.quality = quality
        self.effort = effort
        self.profile = profile
        self.exif = exif
        self.deadline = deadline
    }
}

/// The reason for which a picture cannot be decoded or encoded.
public enum CodecError: Error, Sendable, Equatable {
    /// The bytes are damaged or not a picture; `reason` is the decoder's message.
    case damaged(reason: String)
    /// The file is truncated.
    case truncated
    /// The picture has more pixels than allowed.
    case tooManyPixels(width: Int, height: Int, limit: Int)
    /// The picture has more scans than allowed.
    case tooManyScans(limit: Int)
    /// The codec does not support this kind of file or pixels.
    case unsupported(String)
    /// The system has no memory for it.
    case outOfMemory
    /// The deadline of the request has passed.
    case timedOut
}

extension CodecError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .damaged(let reason): "the image is damaged: \(reason)"
        case .truncated: "the image is truncated"
        case .tooManyPixels(let width, let height, let limit):
            "the image has \(width) × \(height) pixels; at most \(limit) are allowed"
        case .tooManyScans(let limit): "the image has more than \(limit) scans"
        case .unsupported(let what): "not supported: \(what)"
        case .outOfMemory: "there is not enough memory for the image"
        case .timedOut: "the image takes too long"
        }
    }
}
