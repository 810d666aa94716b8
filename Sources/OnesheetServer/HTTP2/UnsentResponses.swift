import NIOCore
import NIOHTTP2
import OnesheetCore

/// The responses of the fast path that an HTTP/2 client's windows (RFC 9113 §5.2) or its socket hold back. They are counted as memory and timed.
final class UnsentResponses {
    private struct Unsent {
        let body: ByteBuffer
        /// The time of the last progress.
        var since: NIODeadline
        let hold: BodyHold
    }

    /// Bytes that may wait before further requests take the ordinary way, whose bodies are written in pieces.
    private static let limit = 256 << 10

    private let memory: ResponseMemory
    private let idleTimeout: TimeAmount
    private var streams: [HTTP2StreamID: Unsent] = [:]
    private var bytes = 0
    private var receiver: BodyReceiver?
    private var polling: RepeatedTask?
    private var loop: (any EventLoop)?
    private var reset: (HTTP2StreamID) -> Void = { _ in }

    init(_ memory: ResponseMemory, idleTimeout: TimeAmount) {
        self.memory = memory
        self.idleTimeout = idleTimeout
    }

    /// - Parameters:
    ///   - owner: the address that the streams count for.
    ///   - reset: ends a stream, which then calls `remove`.
    func begin(on loop: any EventLoop, for owner: ClientAddress?, reset: @escaping (HTTP2StreamID) -> Void) {
        (self.loop, self.reset) = (loop, reset)
        let here = NIOLoopBound(self, eventLoop: loop)
        receiver = BodyReceiver(memory) {
            owner
        } close: {
            loop.execute { here.value.resetAll { _ in true } }
        }
    }

    /// Forgets all responses. The connection is closed.
    func end() {
        for stream in Array(streams.keys) { remove(stream) }
        (receiver, reset) = (nil, { _ in })
    }

    /// Whether another response may wait.
    var hasRoom: Bool { bytes < Self.limit }

    func add(_ body: ByteBuffer, on stream: HTTP2StreamID) {
        streams[stream] = Unsent(body: body, since: .now(), hold: memory.hold(body))
        bytes += body.readableBytes
        receiver?.wrote(body)
        if polling == nil { poll() }
    }

    /// Notes that the client has taken a part of a response. More room in its windows alone is no progress: a client could widen them for
    /// ever and take nothing.
    func progress(of stream: HTTP2StreamID) {
        guard !streams.isEmpty, streams[stream] != nil else { return }
        streams[stream]?.since = .now()
        receiver?.progressed()
    }

    /// Removes a response that was sent, or whose stream was reset.
    func remove(_ stream: HTTP2StreamID) {
        guard !streams.isEmpty, let unsent = streams.removeValue(forKey: stream) else { return }
        bytes -= unsent.body.readableBytes
        receiver?.finished()
        guard streams.isEmpty else { return }
        polling?.cancel()
        polling = nil
    }

    private func poll() {
        guard let loop else { return }
        let here = NIOLoopBound(self, eventLoop: loop)
        let pause = TimeAmount.nanoseconds(idleTimeout.nanoseconds / 4)
        polling = loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [idleTimeout] _ in
            let now = NIODeadline.now()
            here.value.resetAll { now - $0 >= idleTimeout }
        }
    }

    /// Ends the streams whose last progress satisfies `condition`.
    private func resetAll(where condition: (NIODeadline) -> Bool) {
        for stream in streams.filter({ condition($0.value.since) }).keys { reset(stream) }
    }
}
