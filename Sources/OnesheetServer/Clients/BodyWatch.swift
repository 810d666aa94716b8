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
    struct Timeouts {
        /// For the complete request.
        let request: TimeAmount
        /// Without progress on a response.
        let idle: TimeAmount
    }

    private let memory: ResponseMemory
    private let timeouts: Timeouts?
    private var receiver: BodyReceiver?
    private var polling: RepeatedTask?
    private var began = NIODeadline.distantPast
    private var hasRequest = false

    /// - Parameter timeouts: `nil` if another handler enforces the timeouts.
    init(_ memory: ResponseMemory, _ timeouts: Timeouts?) {
        self.memory = memory
        self.timeouts = timeouts
    }

    func handlerAdded(context: ChannelHandlerContext) {
        receiver = BodyReceiver(context.channel, memory)
        began = context.eventLoop.now
        guard let timeouts else { return }
        let pause = TimeAmount.nanoseconds(min(timeouts.request, timeouts.idle).nanoseconds / 4)
        let here = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        polling = context.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
            let (handler, context) = here.value
            handler.poll(context, timeouts)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { polling?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        polling?.cancel()
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
        let delivery = promise ?? context.eventLoop.makePromise()
        receiver.wrote(bytes)
        delivery.futureResult.whenComplete { _ in withExtendedLifetime(hold) { receiver.finished() } }
        context.write(data, promise: delivery)
    }

    private func poll(_ context: ChannelHandlerContext, _ timeouts: Timeouts) {
        let now = context.eventLoop.now
        let isStalled = receiver.map { !$0.isEmpty && now - $0.waitingSince >= timeouts.idle } ?? false
        if isStalled || !hasRequest && now - began >= timeouts.request { context.close(promise: nil) }
    }
}
