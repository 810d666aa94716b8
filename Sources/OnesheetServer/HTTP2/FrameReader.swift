import NIOCore
import NIOHTTP2

/// A frame of a client, as far as a server acts on it (RFC 9113 §6).
enum ClientFrame {
    /// - Parameter length: the bytes that count for the windows, with the padding.
    case data(ByteBuffer, on: HTTP2StreamID, length: Int, isLast: Bool)
    /// A whole field block: the head of a request, or its trailers.
    case fields(ByteBuffer, on: HTTP2StreamID, isLast: Bool)
    case reset(HTTP2StreamID, HTTP2ErrorCode)
    case settings([(name: UInt16, value: Int)])
    case ping(UInt64)
    case pingAnswer(UInt64)
    /// On the root stream it is for the connection.
    case windowUpdate(HTTP2StreamID, by: Int)
    /// Frames that a server needs not act on: of priorities, of unknown types, and those that acknowledge settings or say goodbye.
    case ignored
}

/// A client has broken the protocol, which ends the connection (RFC 9113 §5.4.1). Errors of streams that frames show by themselves end it
/// too: no client that works sends such frames.
struct ConnectionFailure: Error {
    let code: HTTP2ErrorCode
}

/// Splits what a client sends into frames (RFC 9113 §4.1), and joins the parts of field blocks (§6.10).
struct FrameReader {
    /// The longest payload (SETTINGS_MAX_FRAME_SIZE), which a server does not raise.
    static let longestPayload = 16_384
    /// The limits of a field block. Honest ones have one part, or two if a cookie is very long.
    private static let block = (bytes: 32 << 10, parts: 8)
    /// The most settings in a frame. There are seven in all.
    private static let mostSettings = 32
    private static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    private struct Head {
        /// Bytes of the head itself.
        static let size = 9
        let length: Int
        let kind: UInt8
        let flags: UInt8
        let stream: HTTP2StreamID

        /// The head at the beginning of `bytes`. `nil` if they are fewer.
        init?(_ bytes: ByteBuffer) {
            guard
                let (first, kind, flags, stream) = bytes.getMultipleIntegers(
                    at: bytes.readerIndex + 2, as: (UInt8, UInt8, UInt8, UInt32).self),
                let high = bytes.getInteger(at: bytes.readerIndex, as: UInt16.self)
            else { return nil }
            length = Int(high) << 8 | Int(first)
            (self.kind, self.flags) = (kind, flags)
            // The highest bit is reserved (RFC 9113 §4.1).
            self.stream = HTTP2StreamID(Int(stream & 0x7FFF_FFFF))
        }

        func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
    }

    /// A field block whose end has not arrived.
    private struct Block {
        let stream: HTTP2StreamID
        let isLast: Bool
        var bytes: ByteBuffer
        var parts = 1
    }

    private var bytes = ByteBuffer()
    private var hasPreface = false
    private var hasSettings = false
    private var block: Block?

    /// Bytes that have arrived and are not read yet.
    var waiting: Int { bytes.readableBytes }

    /// Bytes that it holds memory for. Only tests use it.
    var capacity: Int { bytes.storageCapacity }

    mutating func append(_ received: ByteBuffer) {
        guard bytes.readableBytes > 0 else { return bytes = received }
        // What was read would stay in the memory otherwise, for as long as each read ends within a frame.
        var joined = ByteBufferAllocator().buffer(capacity: bytes.readableBytes + received.readableBytes)
        joined.writeImmutableBuffer(bytes)
        joined.writeImmutableBuffer(received)
        bytes = joined
    }

    /// The next frame; `nil` if it has not arrived as a whole.
    mutating func next() throws(ConnectionFailure) -> ClientFrame? {
        guard try readPreface(), let head = Head(bytes) else { return nil }
        guard head.length <= Self.longestPayload else { throw ConnectionFailure(code: .frameSizeError) }
        guard bytes.readableBytes >= Head.size + head.length else { return nil }
        bytes.moveReaderIndex(forwardBy: Head.size)
        let payload = bytes.readSlice(length: head.length) ?? ByteBuffer()
        // A received buffer does not stay only because its end was read.
        if bytes.readableBytes == 0 { bytes = ByteBuffer() }
        return try frame(head, payload)
    }

    /// Whether the bytes before the first frame have arrived (RFC 9113 §3.4).
    private mutating func readPreface() throws(ConnectionFailure) -> Bool {
        if hasPreface { return true }
        let expected = Self.preface.utf8.prefix(bytes.readableBytes)
        guard bytes.readableBytesView.prefix(expected.count).elementsEqual(expected) else { throw .protocolError }
        guard expected.count == Self.preface.utf8.count else { return false }
        bytes.moveReaderIndex(forwardBy: expected.count)
        hasPreface = true
        return true
    }

    private mutating func frame(_ head: Head, _ payload: ByteBuffer) throws(ConnectionFailure) -> ClientFrame {
        let kind = FrameKind(rawValue: head.kind)
        // Nothing may come between the parts of a block.
        guard block == nil || kind == .continuation else { throw .protocolError }
        if !hasSettings {
            guard kind == .settings, !head.has(FrameFlag.acknowledges) else { throw .protocolError }
            hasSettings = true
        }
        switch kind {
        case .data: return try data(head, payload)
        case .headers: return try headers(head, payload)
        case .continuation: return try continuation(head, payload)
        case .priority:
            try Self.check(head, length: 5, isOfStream: true)
            return try priority(head, payload)
        case .reset:
            try Self.check(head, length: 4, isOfStream: true)
            let code = payload.getInteger(at: payload.readerIndex, as: UInt32.self) ?? 0
            return .reset(head.stream, HTTP2ErrorCode(networkCode: Int(code)))
        case .settings: return try settings(head, payload)
        case .ping:
            try Self.check(head, length: 8, isOfStream: false)
            let number = payload.getInteger(at: payload.readerIndex, as: UInt64.self) ?? 0
            return head.has(FrameFlag.acknowledges) ? .pingAnswer(number) : .ping(number)
        case .windowUpdate:
            try Self.check(head, length: 4, isOfStream: nil)
            let increment = (payload.getInteger(at: payload.readerIndex, as: UInt32.self) ?? 0) & 0x7FFF_FFFF
            guard increment > 0 else { throw .protocolError }
            return .windowUpdate(head.stream, by: Int(increment))
        case .goAway:
            guard head.stream == .rootStream else { throw .protocolError }
            guard head.length >= 8 else { throw ConnectionFailure(code: .frameSizeError) }
            return .ignored
        case .pushPromise: throw .protocolError
        case nil: return .ignored
        }
    }

    /// - Parameter isOfStream: whether the frame belongs to a stream or to the connection; `nil` if both are possible.
    private static func check(_ head: Head, length: Int, isOfStream: Bool?) throws(ConnectionFailure) {
        if let isOfStream, isOfStream == (head.stream == .rootStream) { throw .protocolError }
        guard head.length == length else { throw ConnectionFailure(code: .frameSizeError) }
    }

    private func data(_ head: Head, _ payload: ByteBuffer) throws(ConnectionFailure) -> ClientFrame {
        guard head.stream != .rootStream else { throw .protocolError }
        var payload = payload
        try Self.removePadding(head, &payload)
        return .data(payload.compacted, on: head.stream, length: head.length, isLast: head.has(FrameFlag.endsStream))
    }

    private mutating func headers(_ head: Head, _ payload: ByteBuffer) throws(ConnectionFailure) -> ClientFrame {
        guard head.stream != .rootStream else { throw .protocolError }
        var payload = payload
        try Self.removePadding(head, &payload)
        if head.has(FrameFlag.hasPriority) {
            guard let priority = payload.readSlice(length: 5) else { throw ConnectionFailure(code: .frameSizeError) }
            _ = try self.priority(head, priority)
        }
        var block = Block(stream: head.stream, isLast: head.has(FrameFlag.endsStream), bytes: payload)
        if head.has(FrameFlag.endsFields) { return .fields(block.bytes, on: block.stream, isLast: block.isLast) }
        block.bytes = payload.compacted
        self.block = block
        return .ignored
    }

    private mutating func continuation(_ head: Head, _ payload: ByteBuffer) throws(ConnectionFailure) -> ClientFrame {
        guard var block, block.stream == head.stream else { throw .protocolError }
        self.block = nil
        block.parts += 1
        block.bytes.writeImmutableBuffer(payload)
        guard block.parts <= Self.block.parts, block.bytes.readableBytes <= Self.block.bytes else {
            throw ConnectionFailure(code: .enhanceYourCalm)
        }
        if head.has(FrameFlag.endsFields) { return .fields(block.bytes, on: block.stream, isLast: block.isLast) }
        self.block = block
        return .ignored
    }

    /// Priorities have no meaning here, but a stream that depends on itself is an error (RFC 7540 §5.3.1).
    private func priority(_ head: Head, _ payload: ByteBuffer) throws(ConnectionFailure) -> ClientFrame {
        let parent = (payload.getInteger(at: payload.readerIndex, as: UInt32.self) ?? 0) & 0x7FFF_FFFF
        guard HTTP2StreamID(Int(parent)) != head.stream else { throw .protocolError }
        return .ignored
    }

    private func settings(_ head: Head, _ payload: ByteBuffer) throws(ConnectionFailure) -> ClientFrame {
        guard head.stream == .rootStream else { throw .protocolError }
        if head.has(FrameFlag.acknowledges) {
            guard head.length == 0 else { throw ConnectionFailure(code: .frameSizeError) }
            return .ignored
        }
        guard head.length.isMultiple(of: 6) else { throw ConnectionFailure(code: .frameSizeError) }
        guard head.length / 6 <= Self.mostSettings else { throw ConnectionFailure(code: .enhanceYourCalm) }
        var (payload, settings) = (payload, [(name: UInt16, value: Int)]())
        while let (name, value) = payload.readMultipleIntegers(as: (UInt16, UInt32).self) { settings.append((name, Int(value))) }
        return .settings(settings)
    }

    private static func removePadding(_ head: Head, _ payload: inout ByteBuffer) throws(ConnectionFailure) {
        guard head.has(FrameFlag.isPadded) else { return }
        guard let padding = payload.readInteger(as: UInt8.self) else { throw ConnectionFailure(code: .frameSizeError) }
        guard let rest = payload.getSlice(at: payload.readerIndex, length: payload.readableBytes - Int(padding)),
            payload.readableBytes >= Int(padding)
        else { throw .protocolError }
        payload = rest
    }
}

extension ConnectionFailure {
    static var protocolError: Self { Self(code: .protocolError) }
}

extension ByteBuffer {
    /// The same bytes in a buffer of their own, if they hold a much larger one that they were read with.
    fileprivate var compacted: ByteBuffer { readableBytes < storageCapacity / 2 ? ByteBuffer(buffer: self) : self }
}
