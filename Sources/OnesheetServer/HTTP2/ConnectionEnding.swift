import NIOCore
import NIOHTTP2

/// Decides when an HTTP/2 connection ends gracefully: when it has had no streams for a while, when it is old, or when the server shuts down.
///
/// The server says goodbye twice (RFC 9113 §6.8): first without a last stream, with a ping; and after the answer to the ping, with the last
/// stream that the client has opened until then. A client that does not answer is disconnected.
struct ConnectionEnding {
    private enum Phase {
        case open
        /// Waits for the answer to the ping of this number.
        case leaving(ping: UInt64)
        case last(HTTP2StreamID)
    }

    /// How long a client without streams may take to answer a ping.
    private static let pingTimeout = TimeAmount.seconds(5)

    let idleTimeout: TimeAmount
    private let maximumAge: TimeAmount
    private var phase = Phase.open
    private var loop: (any EventLoop)?
    private var polling: RepeatedTask?
    private var deadline: RepeatedTask?
    private let use = LastUse()

    /// The end of the last stream, or the beginning of the connection.
    private final class LastUse {
        var time = NIODeadline.now()
    }

    init(idleTimeout: TimeAmount, maximumAge: TimeAmount) {
        (self.idleTimeout, self.maximumAge) = (idleTimeout, maximumAge)
    }

    /// - Parameters:
    ///   - leave: called when the connection is idle or old.
    ///   - isIdle: whether there are no streams.
    mutating func begin(on loop: any EventLoop, leave: @escaping () -> Void, isIdle: @escaping () -> Bool) {
        self.loop = loop
        let pause = TimeAmount.nanoseconds(min(idleTimeout, maximumAge).nanoseconds / 4)
        let (idleTimeout, old) = (idleTimeout, loop.now + maximumAge)
        let here = NIOLoopBound((use, leave, isIdle), eventLoop: loop)
        polling = loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
            let (use, leave, isIdle) = here.value
            let now = NIODeadline.now()
            if now >= old || isIdle() && now - use.time >= idleTimeout { leave() }
        }
    }

    mutating func end() {
        polling?.cancel()
        deadline?.cancel()
        (polling, deadline, loop) = (nil, nil, nil)
    }

    /// Notes that a stream begins or ends.
    func noteUse() { use.time = .now() }

    /// Begins to leave.
    /// - Parameters:
    ///   - isIdle: whether there are no streams. Some may come before the client knows.
    ///   - close: closes the connection. Called if it is idle and the ping is not answered, or if its streams do not end in time.
    /// - Returns: the number for the ping; `nil` if it is leaving already.
    mutating func leave(isIdle: @escaping () -> Bool, _ close: @escaping () -> Void) -> UInt64? {
        guard case .open = phase, let loop else { return nil }
        polling?.cancel()
        let number = UInt64.random(in: .min ... .max)
        phase = .leaving(ping: number)
        let here = NIOLoopBound((isIdle, close), eventLoop: loop)
        let (pause, end) = (min(idleTimeout, Self.pingTimeout), loop.now + idleTimeout)
        deadline = loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
            let (isIdle, close) = here.value
            if isIdle() || NIODeadline.now() >= end { close() }
        }
        return number
    }

    /// Notes the answer to a ping.
    /// - Parameter newest: the last stream that the client has opened.
    /// - Returns: whether it is the awaited one, so that no later stream is answered.
    mutating func confirm(_ number: UInt64, after newest: HTTP2StreamID) -> Bool {
        guard case .leaving(number) = phase else { return false }
        phase = .last(newest)
        return true
    }

    /// Whether the client has been told the last stream.
    var isLast: Bool { if case .last = phase { true } else { false } }

    /// Whether the client opened `stream` after the last one that is answered.
    func isAfterLast(_ stream: HTTP2StreamID) -> Bool { if case .last(let last) = phase { stream > last } else { false } }
}
