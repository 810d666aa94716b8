import NIOCore
import NIOHTTP2

/// Sends the frames of a connection: those of responses as far as the client's windows allow (RFC 9113 §5.2) and the socket takes them, and
/// all others at once. Streams that wait take turns, a frame each.
///
/// Only used on the connection's loop. Each method leaves its state in order before it writes, because a write can call it again.
final class FrameSender {
    /// A part of a response that waits.
    private struct Part {
        enum Content {
            /// An encoded field block.
            case fields(ByteBuffer)
            case body(ByteBuffer)
        }

        var content: Content
        let isLast: Bool
        let promise: EventLoopPromise<Void>?

        /// Whether it can be sent although a window is used up.
        var needsNoWindow: Bool {
            switch content {
            case .fields: true
            case .body(let bytes): bytes.readableBytes == 0
            }
        }
    }

    private struct Stream {
        /// Bytes that the client takes. Its settings can make them negative (RFC 9113 §6.9.2).
        var window: Int
        var parts = CircularBuffer<Part>(initialCapacity: 2)
        var isInTurn = false
    }

    private static let largestWindow = Int(Int32.max)
    /// The longest part of a body in one frame. With the frame's head it fills a record of TLS.
    private static let longestPart = FrameReader.longestPayload - 9
    /// Shorter parts are copied behind their heads, which takes less time than another write.
    private static let copied = 2048
    /// Copied bytes and other frames that are written together.
    private static let together = 16 << 10
    /// Bytes between flushes. The encryption makes one buffer of what waits for a flush, and only a flush makes a full socket unwritable.
    private static let mostUnflushed = 32 << 10

    private let context: ChannelHandlerContext
    /// Called after bytes of a stream were sent, and with `true` after its last frame.
    private let sent: (HTTP2StreamID, _ isLast: Bool) -> Void
    private var streams: [HTTP2StreamID: Stream] = [:]
    /// The streams that wait for the socket or the window of the connection.
    private var turns = CircularBuffer<HTTP2StreamID>()
    private var window = ClientStreams.firstWindow
    private var firstWindow = ClientStreams.firstWindow
    /// Frames that have not been written.
    private var frames = ByteBuffer()
    /// Bytes that were written since the last flush.
    private var unflushed = 0
    /// Whether the client knows that the table for fields is empty.
    private var hasEmptiedTable = false

    init(_ context: ChannelHandlerContext, sent: @escaping (HTTP2StreamID, _ isLast: Bool) -> Void) {
        self.context = context
        self.sent = sent
    }

    /// Writes a frame that needs no window.
    func send(_ promise: EventLoopPromise<Void>? = nil, _ write: (inout ByteBuffer) -> Void) {
        write(&frames)
        if promise != nil || frames.readableBytes >= Self.together { writeFrames(promise) }
        if unflushed >= Self.mostUnflushed { flush() }
    }

    /// Closes the connection when the socket has taken everything that was sent.
    /// - Parameter time: how long that may take.
    func close(within time: TimeAmount) {
        writeFrames(nil)
        let (written, here) = (context.eventLoop.makePromise(of: Void.self), context)
        let tooSlow = context.eventLoop.assumeIsolated().scheduleTask(in: time) { here.close(promise: nil) }
        written.futureResult.assumeIsolated().whenComplete { _ in
            tooSlow.cancel()
            here.close(promise: nil)
        }
        context.writeAndFlush(NIOAny(ByteBuffer()), promise: written)
    }

    func flush() {
        writeFrames(nil)
        guard unflushed > 0 else { return }
        unflushed = 0
        context.flush()
    }

    /// Sends a response on a stream that is not open here.
    /// - Parameter head: its encoded fields.
    /// - Returns: whether all of it was sent. If not, the stream is open, and the rest waits.
    func respond(_ head: ByteBuffer, _ body: ByteBuffer?, on id: HTTP2StreamID) -> Bool {
        var (rest, streamWindow) = (body ?? ByteBuffer(), firstWindow)
        let block = ofConnection(head)
        send { $0.writeFields(block, on: id, isLast: rest.readableBytes == 0) }
        while rest.readableBytes > 0 {
            let length = min(rest.readableBytes, Self.longestPart, window, streamWindow)
            guard length > 0, context.channel.isWritable, let part = rest.readSlice(length: length) else {
                var stream = Stream(window: streamWindow)
                stream.parts.append(Part(content: .body(rest), isLast: true, promise: nil))
                streams[id] = stream
                takeTurn(id)
                return false
            }
            window -= length
            streamWindow -= length
            write(part, on: id, isLast: rest.readableBytes == 0, nil)
        }
        return true
    }

    /// Opens a stream for `write`.
    func open(_ id: HTTP2StreamID) { streams[id] = Stream(window: firstWindow) }

    /// Drops what waits on a stream.
    func close(_ id: HTTP2StreamID) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        for part in stream.parts { part.promise?.fail(ChannelError.ioOnClosedChannel) }
    }

    /// Drops everything that waits. The connection is closed.
    func closeAll() { for id in Array(streams.keys) { close(id) } }

    func write(fields: ByteBuffer, on id: HTTP2StreamID, isLast: Bool, _ promise: EventLoopPromise<Void>?) {
        write(Part(content: .fields(fields), isLast: isLast, promise: promise), on: id)
    }

    func write(body: ByteBuffer, on id: HTTP2StreamID, isLast: Bool, _ promise: EventLoopPromise<Void>?) {
        write(Part(content: .body(body), isLast: isLast, promise: promise), on: id)
    }

    /// - Returns: whether the window has a size that it may have.
    func widen(by bytes: Int) -> Bool {
        guard window + bytes <= Self.largestWindow else { return false }
        window += bytes
        sendWaiting()
        return true
    }

    /// - Returns: whether the window of the stream has a size that it may have.
    func widen(_ id: HTTP2StreamID, by bytes: Int) -> Bool {
        guard let stream = streams[id] else { return true }
        guard stream.window + bytes <= Self.largestWindow else { return false }
        streams[id]?.window += bytes
        takeTurn(id)
        sendWaiting()
        return true
    }

    /// Changes the first window of streams, and by the same number of bytes those of open streams (RFC 9113 §6.9.2).
    /// - Returns: whether all have sizes that they may have.
    func setFirstWindow(_ bytes: Int) -> Bool {
        let change = bytes - firstWindow
        firstWindow = bytes
        for id in Array(streams.keys) {
            guard let stream = streams[id], stream.window + change <= Self.largestWindow else { return false }
            streams[id]?.window += change
            takeTurn(id)
        }
        sendWaiting()
        return true
    }

    /// Sends what waits, as far as the windows and the socket allow.
    func sendWaiting() {
        while window > 0, context.channel.isWritable, let id = turns.popFirst() {
            streams[id]?.isInTurn = false
            sendFrame(of: id)
            takeTurn(id)
        }
    }

    private func write(_ part: Part, on id: HTTP2StreamID) {
        guard let stream = streams[id] else {
            part.promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        streams[id]?.parts.append(part)
        guard stream.parts.isEmpty else { return }
        while sendFrame(of: id) {}
        takeTurn(id)
    }

    /// Puts a stream that has something to send behind the others. If only its own window holds it back, it has to wait for that.
    private func takeTurn(_ id: HTTP2StreamID) {
        guard let stream = streams[id], !stream.isInTurn, let part = stream.parts.first, part.needsNoWindow || stream.window > 0
        else { return }
        streams[id]?.isInTurn = true
        turns.append(id)
    }

    /// Sends the next frame of a stream, and those behind it that need no window.
    /// - Returns: whether a frame was sent.
    @discardableResult
    private func sendFrame(of id: HTTP2StreamID) -> Bool {
        guard let stream = streams[id], let part = stream.parts.first else { return false }
        var isEnd = part.isLast
        switch part.content {
        case .fields(let block):
            streams[id]?.parts.removeFirst()
            if isEnd { close(id) }
            let block = ofConnection(block)
            send(part.promise) { $0.writeFields(block, on: id, isLast: part.isLast) }
        case .body(var rest):
            let length = min(rest.readableBytes, Self.longestPart, window, stream.window)
            guard part.needsNoWindow || length > 0 && context.channel.isWritable,
                let bytes = rest.readSlice(length: max(length, 0))
            else { return false }
            let isWhole = rest.readableBytes == 0
            if isWhole {
                streams[id]?.parts.removeFirst()
            } else {
                streams[id]?.parts[stream.parts.startIndex].content = .body(rest)
            }
            isEnd = isEnd && isWhole
            if isEnd { close(id) }
            window -= bytes.readableBytes
            streams[id]?.window -= bytes.readableBytes
            write(bytes, on: id, isLast: isEnd, isWhole ? part.promise : nil)
        }
        sent(id, isEnd)
        if let next = streams[id]?.parts.first, next.needsNoWindow { sendFrame(of: id) }
        return true
    }

    /// Writes a frame of a body. It is flushed only as a whole: a flush can call this object again, which then writes other frames.
    private func write(_ part: ByteBuffer, on id: HTTP2StreamID, isLast: Bool, _ promise: EventLoopPromise<Void>?) {
        frames.writeDataHead(length: part.readableBytes, on: id, isLast: isLast)
        if part.readableBytes > Self.copied {
            writeFrames(nil)
            write(part, promise)
        } else {
            frames.writeImmutableBuffer(part)
            if promise != nil || frames.readableBytes >= Self.together { writeFrames(promise) }
        }
        if unflushed >= Self.mostUnflushed { flush() }
    }

    /// The first block of a connection empties the client's table, which its settings may have made smaller (RFC 7541 §4.2).
    private func ofConnection(_ block: ByteBuffer) -> ByteBuffer {
        if hasEmptiedTable { return block }
        hasEmptiedTable = true
        var first = HPACKFieldEncoder.emptyTable
        first.writeImmutableBuffer(block)
        return first
    }

    private func writeFrames(_ promise: EventLoopPromise<Void>?) {
        guard frames.readableBytes > 0 else { return }
        let written = frames
        frames = ByteBuffer()
        write(written, promise)
    }

    private func write(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?) {
        unflushed += bytes.readableBytes
        context.write(NIOAny(bytes), promise: promise)
    }
}
