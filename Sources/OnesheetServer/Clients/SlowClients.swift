import NIOCore

/// The event that a connection waits for.
enum ConnectionPhase {
    /// The next request.
    case idle
    /// The rest of a request. The number tells it from the connection's other requests.
    case reading(_ number: Int)
    /// The server's response.
    case answering
}

/// Closes an idle or stalled connection: one without a request, one with an incomplete request, and one whose client does not read the
/// response.
///
/// Polls four times per timeout, so traffic itself costs almost nothing. Only used on the connection's loop.
final class ClientTimeouts {
    private let idleTimeout: TimeAmount
    private let requestTimeout: TimeAmount
    /// The connection's current phase. `nil` before `begin(_:phase:)` and after `end()`.
    private var phase: (() -> ConnectionPhase)?
    private var polling: RepeatedTask?
    private var lastRead = NIODeadline.distantPast
    /// The last poll that found a request or a response under way.
    private var lastBusy = NIODeadline.distantPast
    /// The start of the incomplete request.
    private var began: (number: Int, time: NIODeadline)?
    /// The number of bytes that wait for the client, and the time since which it has not changed.
    private var unsent: (bytes: Int, since: NIODeadline)?

    init(idleTimeout: TimeAmount, requestTimeout: TimeAmount) {
        self.idleTimeout = idleTimeout
        self.requestTimeout = requestTimeout
    }

    /// Begins to watch the connection of `context`, until `end()`.
    func begin(_ context: ChannelHandlerContext, phase: @escaping () -> ConnectionPhase) {
        let loop = context.eventLoop
        lastRead = loop.now
        let pause = TimeAmount.nanoseconds(min(idleTimeout, requestTimeout).nanoseconds / 4)
        let here = NIOLoopBound((self, context), eventLoop: loop)
        polling = loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
            let (timeouts, context) = here.value
            timeouts.poll(context)
        }
        self.phase = phase
    }

    func end() {
        polling?.cancel()
        phase = nil
    }

    /// Notes that bytes have arrived.
    func received(at now: NIODeadline) { lastRead = now }

    /// Notes that these bytes have been processed.
    func processed() {
        guard case .reading(let number) = phase?() else { return began = nil }
        if began?.number != number { began = (number, lastRead) }
    }

    private func poll(_ context: ChannelHandlerContext) {
        guard let phase = phase?() else { return }
        let now = context.eventLoop.now
        if isStalled(context, now) { return context.close(promise: nil) }
        switch phase {
        case .idle where unsent == nil:
            if now - max(lastRead, lastBusy) >= idleTimeout { context.close(promise: nil) }
            return
        case .reading: if now - (began?.time ?? lastRead) >= requestTimeout { context.close(promise: nil) }
        case .idle, .answering: break
        }
        lastBusy = now
    }

    /// Whether the client has read nothing for too long.
    private func isStalled(_ context: ChannelHandlerContext, _ now: NIODeadline) -> Bool {
        let buffered = context.channel.bufferedBytes
        guard buffered > 0 else {
            unsent = nil
            return false
        }
        guard let unsent, unsent.bytes == buffered else {
            self.unsent = (buffered, now)
            return false
        }
        return now - unsent.since >= idleTimeout
    }
}

/// Applies `ClientTimeouts` to a connection whose other handlers do not.
final class SlowClients: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let timeouts: ClientTimeouts
    private let phase: () -> ConnectionPhase

    /// - Parameter phase: called after the handlers behind have processed a read.
    init(_ timeouts: ClientTimeouts, phase: @escaping () -> ConnectionPhase) {
        (self.timeouts, self.phase) = (timeouts, phase)
    }

    func handlerAdded(context: ChannelHandlerContext) { timeouts.begin(context, phase: phase) }

    func handlerRemoved(context: ChannelHandlerContext) { timeouts.end() }

    func channelInactive(context: ChannelHandlerContext) {
        timeouts.end()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        timeouts.received(at: context.eventLoop.now)
        context.fireChannelRead(data)
        timeouts.processed()
    }
}
