import NIOCore
import NIOHTTP2
import OnesheetCore

/// The responses of the fast path on an HTTP/2 connection until the client's windows (RFC 9113 §5.2) and its socket have taken them. They are
/// counted as memory and timed.
final class UnsentResponses {
    private struct Unsent {
        var bytes: Int
        /// The time of the last progress.
        var since: NIODeadline
        let hold: BodyHold
    }

    /// Bytes that may wait before further requests take the ordinary way, whose bodies are written in pieces.
    private static let limit = 256 << 10
    /// Bytes of a piece, whose end is progress. A frame has as many.
    private static let piece = 16 << 10

    private let memory: ResponseMemory
    private let idleTimeout: TimeAmount
    private let loop: any EventLoop
    private let reset: (HTTP2StreamID) -> Void
    private var streams: [HTTP2StreamID: Unsent] = [:]
    private var bytes = 0
    private var polling: RepeatedTask?
    private var receiver: BodyReceiver?

    /// - Parameters:
    ///   - owner: the address that the streams count for.
    ///   - idleTimeout: how long a client may take nothing of a response.
    ///   - reset: ends a stream.
    init(
        _ memory: ResponseMemory, for owner: ClientAddress?, idleTimeout: TimeAmount, on loop: any EventLoop,
        reset: @escaping (HTTP2StreamID) -> Void
    ) {
        self.reset = reset
        self.memory = memory
        self.idleTimeout = idleTimeout
        self.loop = loop
        let here = NIOLoopBoundBox<UnsentResponses?>(nil, eventLoop: loop)
        receiver = BodyReceiver(memory) {
            owner
        } close: {
            loop.execute { here.value?.closeAll { _ in true } }
        }
        here.value = self
    }

    /// Ends the counting. The connection is closed, and so are its streams.
    func end() {
        polling?.cancel()
        for _ in streams { receiver?.finished() }
        (polling, receiver, streams) = (nil, nil, [:])
    }

    /// Whether another response may wait.
    var hasRoom: Bool { bytes < Self.limit }

    /// Writes `body` in pieces.
    /// - Parameter write: writes a piece on the stream; its promise says that the client has taken it.
    func write(_ body: ByteBuffer, on id: HTTP2StreamID, _ write: (ByteBuffer, Bool, EventLoopPromise<Void>) -> Void) {
        streams[id] = Unsent(bytes: body.readableBytes, since: .now(), hold: memory.hold(body))
        bytes += body.readableBytes
        receiver?.wrote(body)
        if polling == nil { poll() }
        var rest = body
        while let piece = rest.readSlice(length: min(Self.piece, rest.readableBytes)), piece.readableBytes > 0 {
            let (count, isLast) = (piece.readableBytes, rest.readableBytes == 0)
            let promise = loop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenComplete { [self] _ in took(count, of: id) }
            write(piece, isLast, promise)
            if isLast { break }
        }
    }

    /// Notes that the client has taken a piece, or that its stream has ended. More room in its windows alone is no progress: a client could
    /// widen them for ever and take nothing.
    private func took(_ count: Int, of stream: HTTP2StreamID) {
        guard var unsent = streams[stream] else { return }
        bytes -= count
        unsent.bytes -= count
        unsent.since = .now()
        streams[stream] = unsent.bytes > 0 ? unsent : nil
        if unsent.bytes > 0 { receiver?.progressed() } else { receiver?.finished() }
    }

    /// Looks at the responses until none waits.
    private func poll() {
        let here = NIOLoopBound(self, eventLoop: loop)
        let pause = TimeAmount.nanoseconds(idleTimeout.nanoseconds / 4)
        polling = loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [idleTimeout] task in
            let (unsent, now) = (here.value, NIODeadline.now())
            unsent.closeAll { now - $0 >= idleTimeout }
            guard unsent.streams.isEmpty else { return }
            task.cancel()
            unsent.polling = nil
        }
    }

    /// Resets the streams whose last progress satisfies `condition`.
    private func closeAll(where condition: (NIODeadline) -> Bool) {
        for (id, unsent) in streams where condition(unsent.since) { reset(id) }
    }
}
