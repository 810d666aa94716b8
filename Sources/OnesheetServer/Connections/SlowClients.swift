import NIOCore

/// What a connection waits for.
enum ConnectionPhase {
    /// The client's next request.
    case idle
    /// The rest of a request that has begun.
    case reading
    /// Our answer.
    case answering
}

/// Closes connections whose client keeps us waiting: for a request, for the rest of one, or to take an answer.
///
/// Looks at most four times in each of the times allowed, so that bytes that come and go cost next to nothing.
final class SlowClients: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let idleTimeout: TimeAmount
    private let requestTimeout: TimeAmount
    private let phase: () -> ConnectionPhase
    private var looking: RepeatedTask?
    private var lastRead = NIODeadline.distantPast
    /// When the request began that is not whole yet.
    private var began: NIODeadline?
    /// Since when the client has taken nothing of so many bytes.
    private var waiting: (bytes: Int, since: NIODeadline)?

    /// - Parameter phase: asked after everything that was read has been dealt with.
    init(idleTimeout: TimeAmount, requestTimeout: TimeAmount, phase: @escaping () -> ConnectionPhase) {
        (self.idleTimeout, self.requestTimeout, self.phase) = (idleTimeout, requestTimeout, phase)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let loop = context.eventLoop
        lastRead = loop.now
        let pause = TimeAmount.nanoseconds(min(idleTimeout, requestTimeout).nanoseconds / 4)
        let here = NIOLoopBound((self, context), eventLoop: loop)
        looking = loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
            let (handler, context) = here.value
            handler.look(context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { looking?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        looking?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastRead = context.eventLoop.now
        context.fireChannelRead(data)
        if phase() != .reading { began = nil } else if began == nil { began = lastRead }
    }

    private func look(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        if isStalled(context, now) { return context.close(promise: nil) }
        switch phase() {
        case .idle: if waiting == nil, now - lastRead >= idleTimeout { context.close(promise: nil) }
        case .reading: if now - (began ?? lastRead) >= requestTimeout { context.close(promise: nil) }
        case .answering: break
        }
    }

    /// Whether the client has taken nothing of what was written for too long.
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
    /// How many bytes wait for the client to take them. To be asked on the channel's loop.
    var bufferedBytes: Int {
        do {
            return try syncOptions?.getOption(.bufferedWritableBytes) ?? 0
        } catch {
            // A channel that cannot tell is not held against its client.
            return 0
        }
    }
}
