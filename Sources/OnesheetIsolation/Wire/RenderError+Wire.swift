import NIOCore
import OnesheetCore
import OnesheetImaging

extension RenderError: WireValue {
    func write(to message: inout ByteBuffer) {
        func write(_ tag: UInt8, _ numbers: Int...) {
            message.write(tag)
            for number in numbers { message.write(number) }
        }
        switch self {
        case .unrecognizedFormat: write(0)
        case .foreignFormat(let format):
            write(1)
            message.write(format)
        case .codec(let error, let format):
            write(2)
            message.write(error)
            message.write(format)
        case .tooManyOutputPixels(let width, let height, let limit): write(3, width, height, limit)
        case .outside(let width, let height): write(4, width, height)
        case .tooMuchMemory(let bytes, let limit): write(5, bytes, limit)
        case .tooManyBytes(let bytes, let limit): write(6, bytes, limit)
        case .noEncoder(let format):
            write(7)
            message.write(format)
        case .otherWatermark: write(8)
        case .timedOut(let duration):
            write(9)
            message.write(duration)
        case .tooSlow(let duration):
            write(10)
            message.write(duration)
        case .lost, .noProcess: preconditionFailure("only the server reports a lost process")
        }
    }

    init(from message: inout WireReader) throws(WireError) {
        switch try message.read(UInt8.self) {
        case 0: self = .unrecognizedFormat
        case 1: self = .foreignFormat(try message.read())
        case 2: self = .codec(try message.read(), try message.read())
        case 3: self = .tooManyOutputPixels(width: try message.read(), height: try message.read(), limit: try message.read())
        case 4: self = .outside(width: try message.read(), height: try message.read())
        case 5: self = .tooMuchMemory(bytes: try message.read(), limit: try message.read())
        case 6: self = .tooManyBytes(bytes: try message.read(), limit: try message.read())
        case 7: self = .noEncoder(for: try message.read())
        case 8: self = .otherWatermark
        case 9: self = .timedOut(after: try message.read())
        case 10: self = .tooSlow(after: try message.read())
        default: throw WireError()
        }
    }
}

extension ForeignFormat: WireValue {}

extension CodecError: WireValue {
    /// The most bytes of a reason. A client sees it.
    private static let longestReason = 300

    func write(to message: inout ByteBuffer) {
        switch self {
        case .damaged(let reason):
            message.write(0 as UInt8)
            message.write(counted: reason.utf8.prefix(Self.longestReason))
        case .truncated: message.write(1 as UInt8)
        case .tooManyPixels(let width, let height, let limit):
            message.write(2 as UInt8)
            for number in [width, height, limit] { message.write(number) }
        case .tooManyScans(let limit):
            message.write(3 as UInt8)
            message.write(limit)
        case .unsupported(let what):
            message.write(4 as UInt8)
            message.write(counted: what.utf8.prefix(Self.longestReason))
        case .outOfMemory: message.write(5 as UInt8)
        case .timedOut: message.write(6 as UInt8)
        }
    }

    init(from message: inout WireReader) throws(WireError) {
        switch try message.read(UInt8.self) {
        case 0: self = .damaged(reason: try Self.reason(from: &message))
        case 1: self = .truncated
        case 2: self = .tooManyPixels(width: try message.read(), height: try message.read(), limit: try message.read())
        case 3: self = .tooManyScans(limit: try message.read())
        case 4: self = .unsupported(try Self.reason(from: &message))
        case 5: self = .outOfMemory
        case 6: self = .timedOut
        default: throw WireError()
        }
    }

    private static func reason(from message: inout WireReader) throws(WireError) -> String {
        let bytes = try message.slice()
        guard bytes.readableBytes <= longestReason else { throw WireError() }
        return String(buffer: bytes)
    }
}
