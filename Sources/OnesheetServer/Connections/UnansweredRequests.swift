import NIOCore
import NIOHTTPTypes

/// Knows which requests the parser has read on a connection and not answered yet. Sits right behind the parser.
final class UnansweredRequests: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var begun = 0
    private var read = 0
    private var answered = 0

    /// Whether a request has begun and not ended.
    var isReading: Bool { begun > read }
    /// Whether every request that has begun is answered to its end.
    var isEmpty: Bool { begun == read && read == answered && !hasRefused }
    /// Whether a request that was read waits for its answer.
    var isAnswering: Bool { answered < read }
    /// Whether what came last is no request: nothing more is one. The refusal itself is written later.
    private(set) var hasRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: begun += 1
        case .body: break
        case .end: read += 1
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        hasRefused = true
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { answered += 1 }
        context.write(data, promise: promise)
    }
}
