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

/// Closes idle and stalled connections: those without a request, those with an incomplete request, and those whose client does not
/// read the response.
///
/// Polls four times per timeout, so traffic itself costs almost nothing.
final class SlowClients: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let idleTimeout: TimeAmount
    private let requestTimeout: TimeAmount
    private let phase: () -> ConnectionPhase
    private var polling: RepeatedTask?
    private var lastRead = NIODeadline.distantPast
    /// The start of the incomplete request.
    private var began: (number: Int, time: NIODeadline)?
    /// The number of bytes that wait for the client, and the time since which it has not changed.
    private var waiting: (bytes: Int, since: NIODeadline)?

    /// - Parameter phase: called after the handlers behind have processed a read.
    init(idleTimeout: TimeAmount, requestTimeout: TimeAmount, phase: @escaping () -> ConnectionPhase) {
        self.idleTimeout = idleTimeout
        self.requestTimeout = requestTimeout
        self.phase = phase
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let loop = context.eventLoop
        lastRead = loop.now
        let pause = TimeAmount.nanoseconds(min(idleTimeout, requestTimeout).nanoseconds / 4)
        let here = NIOLoopBound((self, context), eventLoop: loop)
        polling = loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
            let (handler, context) = here.value
            handler.poll(context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { polling?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        polling?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastRead = context.eventLoop.now
        context.fireChannelRead(data)
        guard case .reading(let number) = phase() else { return began = nil }
        if began?.number != number { began = (number, lastRead) }
    }

    private func poll(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        if isStalled(context, now) { return context.close(promise: nil) }
        switch phase() {
        case .idle: if waiting == nil, now - lastRead >= idleTimeout { context.close(promise: nil) }
        case .reading: if now - (began?.time ?? lastRead) >= requestTimeout { context.close(promise: nil) }
        case .answering: break
        }
    }

    /// Whether the client has read nothing for too long.
    private func isStalled(_ context: ChannelHandlerContext, _ now: NIODeadline) -> Bool {
        let buffered = context.channel.bufferedBytes
        guard buffered > 0 else {
            waiting = nil
            return false
        }
        guard let waiting, waiting.bytes == buffered else {
            self.waiting = (buffered, now)
            return false
        }
        return now - waiting.since >= idleTimeout
    }
}

extension Channel {
    /// The number of bytes that wait for the client. Call it on the channel's loop.
    var bufferedBytes: Int {
        do {
            return try syncOptions?.getOption(.bufferedWritableBytes) ?? 0
        } catch {
            // If the channel does not support the option, no client counts as stalled.
            return 0
        }
    }
}
