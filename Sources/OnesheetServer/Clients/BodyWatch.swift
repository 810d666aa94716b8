import NIOCore
import NIOHTTPTypes

/// Accounts for bodies that were sent and not yet taken by the client. On an HTTP/2 stream it also enforces the timeouts, because
/// the connection may stay active while one stream stalls.
final class BodyWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The timeouts of a stream.
    struct Patience {
        /// For the complete request.
        let request: TimeAmount
        /// Without progress on a response.
        let idle: TimeAmount
    }

    private let memory: ResponseMemory
    private let patience: Patience?
    private var receiver: BodyReceiver?
    private var looking: RepeatedTask?
    private var began = NIODeadline.distantPast
    private var hasRequest = false

    /// - Parameter patience: `nil` if another handler enforces the timeouts.
    init(_ memory: ResponseMemory, _ patience: Patience?) { (self.memory, self.patience) = (memory, patience) }

    func handlerAdded(context: ChannelHandlerContext) {
        receiver = BodyReceiver(context.channel, memory)
        began = context.eventLoop.now
        guard let patience else { return }
        let pause = TimeAmount.nanoseconds(min(patience.request, patience.idle).nanoseconds / 4)
        let here = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        looking = context.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
            let (handler, context) = here.value
            handler.look(context, patience)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { looking?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        looking?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { hasRequest = true }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(let bytes) = unwrapOutboundIn(data), bytes.readableBytes > 0, let receiver else {
            return context.write(data, promise: promise)
        }
        let hold = memory.hold(bytes)
        let taken = promise ?? context.eventLoop.makePromise()
        receiver.wrote(bytes.storageCapacity)
        taken.futureResult.whenComplete { _ in withExtendedLifetime(hold) { receiver.took() } }
        context.write(data, promise: taken)
    }

    private func look(_ context: ChannelHandlerContext, _ patience: Patience) {
        let now = context.eventLoop.now
        let isStalled = receiver.map { !$0.isEmpty && now - $0.waitingSince >= patience.idle } ?? false
        if isStalled || !hasRequest && now - began >= patience.request { context.close(promise: nil) }
    }
}
