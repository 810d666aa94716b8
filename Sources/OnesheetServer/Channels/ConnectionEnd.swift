import NIOCore
import NIOHTTP2

/// Closes an HTTP/2 connection after an error, after the client has closed its side, because without its window updates no response can be
/// completed, and if a client without streams does not answer the goodbye of the server. Tells `StreamRequests` of the end of a read.
///
/// NIO reports errors of streams here too, which it has reset. An error of the connection is one that it has said goodbye for.
final class ConnectionEnd: ChannelDuplexHandler, RemovableChannelHandler, NIOHTTP2FrameDelegate {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// How long a client without streams may take to answer a goodbye.
    private static let answerTimeout = TimeAmount.seconds(5)

    private let pause: TimeAmount
    private let requests: StreamRequests
    private var polling: RepeatedTask?
    private var hasFailed = false

    init(_ requests: StreamRequests, idleTimeout: TimeAmount) {
        self.requests = requests
        pause = min(idleTimeout, Self.answerTimeout)
    }

    func handlerRemoved(context: ChannelHandlerContext) { polling?.cancel() }

    func wroteFrame(_ frame: HTTP2Frame) {
        if case .goAway(_, let code, _) = frame.payload, code != .noError { hasFailed = true }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        requests.readEnded()
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        if hasFailed { context.close(promise: nil) }
    }

    /// NIO closes a connection without streams before it has sent its last goodbye.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        context.flush()
        context.close(mode: mode, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        switch event {
        case let end as ChannelEvent where end == .inputClosed: context.close(promise: nil)
        case is ChannelShouldQuiesceEvent where polling == nil:
            let here = NIOLoopBound((context, requests), eventLoop: context.eventLoop)
            polling = context.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
                let (context, requests) = here.value
                if requests.open == 0 { context.close(promise: nil) }
            }
        default: break
        }
    }
}
