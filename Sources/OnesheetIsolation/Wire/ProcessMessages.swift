import NIOCore
import OnesheetCore
import OnesheetImaging

/// A server's question about the picture in the input.
struct ProcessCall: WireValue, Sendable {
    enum Question: Sendable, Equatable {
        case outline
        case render([Transform])
        case hash
    }

    /// A random number that the answer must repeat. A message that a process sends without having read the question is never its answer.
    var number: UInt64
    var question: Question
    /// Bytes of the picture.
    var count: Int
    /// Whether the picture is that of the last question.
    var isSame: Bool

    init(_ question: Question, count: Int, isSame: Bool = false) {
        number = .random(in: .min ... .max)
        self.question = question
        self.count = count
        self.isSame = isSame
    }

    func write(to message: inout ByteBuffer) {
        message.write(number)
        message.write(count)
        message.write(isSame)
        switch question {
        case .outline: message.write(0 as UInt8)
        case .render(let transforms):
            message.write(1 as UInt8)
            message.write(transforms)
        case .hash: message.write(2 as UInt8)
        }
    }

    init(from message: inout WireReader) throws(WireError) {
        number = try message.read()
        count = try message.read()
        isSame = try message.read()
        question =
            switch try message.read(UInt8.self) {
            case 0: .outline
            case 1: .render(try message.read())
            case 2: .hash
            default: throw WireError()
            }
    }
}

/// A render process's message to its server.
struct ProcessReply: WireValue, Sendable {
    /// The number of the process's first message, which has no question.
    static let start: UInt64 = 0

    /// The number of the question.
    var number: UInt64
    var answer: ProcessAnswer

    init(to number: UInt64, _ answer: ProcessAnswer) {
        self.number = number
        self.answer = answer
    }

    func write(to message: inout ByteBuffer) {
        message.write(number)
        message.write(answer)
    }

    init(from message: inout WireReader) throws(WireError) {
        number = try message.read()
        answer = try message.read()
    }
}

/// A render process's answer. The bytes of variants are in the output, in order.
enum ProcessAnswer: WireValue, Sendable {
    /// The process has its settings and is locked in.
    case ready
    case outline(PictureOutline)
    case variants([RenderedVariant])
    case hash(PerceptualHash)
    case failure(RenderError)

    func write(to message: inout ByteBuffer) {
        switch self {
        case .ready: message.write(0 as UInt8)
        case .outline(let outline):
            message.write(1 as UInt8)
            message.write(outline)
        case .variants(let variants):
            message.write(2 as UInt8)
            message.write(variants)
        case .hash(let hash):
            message.write(3 as UInt8)
            message.write(hash.bits)
        case .failure(let error):
            message.write(4 as UInt8)
            message.write(error)
        }
    }

    init(from message: inout WireReader) throws(WireError) {
        switch try message.read(UInt8.self) {
        case 0: self = .ready
        case 1: self = .outline(try message.read())
        case 2: self = .variants(try message.read())
        case 3: self = .hash(PerceptualHash(bits: try message.read()))
        case 4: self = .failure(try message.read())
        default: throw WireError()
        }
    }
}

/// A rendered variant without its bytes.
struct RenderedVariant: WireValue, Sendable {
    /// The most bytes of a ThumbHash, which has about 25.
    private static let longestHash = 64

    /// Bytes of its part of the output.
    var count: Int
    var format: ImageFormat
    var width: Int
    var height: Int
    var thumbHash: [UInt8]
    var color: Color

    init(_ image: RenderedImage) {
        count = image.body.readableBytes
        format = image.format
        width = image.width
        height = image.height
        thumbHash = image.placeholder.thumbHash
        color = image.placeholder.color
    }

    func write(to message: inout ByteBuffer) {
        message.write(count)
        message.write(format)
        message.write(width)
        message.write(height)
        message.write(counted: thumbHash)
        message.write(color)
    }

    init(from message: inout WireReader) throws(WireError) {
        count = try message.read()
        format = try message.read()
        width = try message.read()
        height = try message.read()
        let hash = try message.slice()
        guard count > 0, width > 0, height > 0, hash.readableBytes <= Self.longestHash else { throw WireError() }
        thumbHash = Array(hash.readableBytesView)
        color = try message.read()
    }

    func image(_ body: ByteBuffer) -> RenderedImage {
        RenderedImage(
            body: body, format: format, width: width, height: height,
            placeholder: Placeholder(thumbHash: thumbHash, color: color))
    }
}
