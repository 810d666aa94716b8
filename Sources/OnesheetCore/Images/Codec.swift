public import NIOCore

/// Decodes and encodes one image format. Everything here is synchronous and runs on a worker thread.
public protocol Codec: Sendable {
    var format: ImageFormat { get }

    /// Whether `bytes` begin as this format's files do. Media types and extensions are never asked: they lie.
    func recognizes(_ bytes: Span<UInt8>) -> Bool

    /// Reads what is known before decoding: size, orientation, colours.
    /// - Throws: `CodecError` where the header is damaged or names something that this codec does not decode.
    func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader

    /// Decodes into `sink`, row by row as they come, so that the whole picture need not be held.
    ///
    /// The picture may arrive smaller than it is, as `request` allows. A decoder's warning is an error, unless the request accepts it.
    /// - Throws: `CodecError`; what the sink throws is passed on.
    func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError)

    /// Whether `encode` takes Y, Cb and Cr in planes; `false` unless a codec says so.
    var encodesPlanar: Bool { get }

    /// Encodes a picture.
    /// - Throws: `CodecError.unsupported` where the format cannot hold such pixels.
    func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer

    /// Bytes that `decode` occupies at the most for a file with this header, from its first row to its last; the file itself aside.
    func memoryToDecode(_ header: ImageHeader) -> Int

    /// Bytes that `encode` occupies at the most for such a picture, what it returns included; the picture itself aside.
    func memoryToEncode(_ layout: PixelLayout, _ options: EncodeOptions) -> Int
}

extension Codec {
    public var encodesPlanar: Bool { false }

    /// Sixteen bytes for each pixel: the picture, and twice as much for a decoder that keeps others beside it.
    public func memoryToDecode(_ header: ImageHeader) -> Int { header.width * header.height * 16 + 1 << 20 }

    /// Forty-eight bytes for each pixel: about what the thirstiest encoders take.
    public func memoryToEncode(_ layout: PixelLayout, _ options: EncodeOptions) -> Int {
        layout.width * layout.height * 48 + 1 << 20
    }
}

/// Takes the rows of a picture as a decoder makes them.
public protocol RowSink: ~Copyable {
    /// Called once, before the first row: the layout that the decoder really delivers.
    mutating func begin(_ layout: PixelLayout) throws(CodecError)

    /// Takes row `y` of plane `plane`: `samples` holds at least the plane's width × channels bytes and is valid during the call only.
    /// Within a plane rows come from top to bottom, each once; planes may alternate.
    mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) throws(CodecError)
}

/// What a decoder is asked for.
public struct DecodeRequest: Sendable, Equatable {
    /// The decoder may deliver a smaller picture, scaled evenly, as long as it has at least so many pixels to each side
    /// (before orientation). 0 allows any; larger than the picture means the whole of it.
    public var minimumWidth: Int
    public var minimumHeight: Int
    /// Whether Y, Cb and Cr planes are welcome as they are, instead of RGB.
    public var acceptsPlanar: Bool
    /// Whether a picture that ends early is taken as far as it goes.
    public var acceptsTruncated: Bool
    public var limits: Limits
    /// When decoding has to be done.
    public var deadline: Deadline

    public init(
        minimumWidth: Int = .max, minimumHeight: Int = .max, acceptsPlanar: Bool = false, acceptsTruncated: Bool = false,
        limits: Limits = Limits(), deadline: Deadline = .never
    ) {
        self.minimumWidth = minimumWidth
        self.minimumHeight = minimumHeight
        self.acceptsPlanar = acceptsPlanar
        self.acceptsTruncated = acceptsTruncated
        self.limits = limits
        self.deadline = deadline
    }
}

/// How a picture is written.
public struct EncodeOptions: Sendable, Equatable {
    /// 1 to 100, for formats that lose something.
    public var quality: Int
    /// Work put into a smaller file, 0 to 9; `nil` is the codec's own choice.
    public var effort: Int?
    /// An ICC profile to embed; `nil` embeds none, which means sRGB.
    public var profile: [UInt8]?
    /// A TIFF structure (EXIF without its marker) to embed.
    public var exif: [UInt8]?
    /// When encoding has to be done.
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

/// Why a picture cannot be decoded or encoded.
public enum CodecError: Error, Sendable, Equatable {
    /// The bytes are not, or not all, of a picture; `reason` is the decoder's word.
    case damaged(reason: String)
    /// The file ends before the picture does.
    case truncated
    /// More pixels than allowed.
    case tooManyPixels(width: Int, height: Int, limit: Int)
    /// More scans than allowed.
    case tooManyScans(limit: Int)
    /// A kind of file or of pixels that this codec does not do, by name.
    case unsupported(String)
    /// The machine has no memory for it.
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
