import NIOCore
import HTTPTypes
import NIOHTTPTypes

/// Counts the requests that the parser has read and that are not answered yet.
final class UnansweredRequests: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The requests whose heads were read.
    private(set) var begun = 0
    private var read = 0
    private var answered = 0

    /// Whether a request is incomplete.
    var isReading: Bool { begun > read }
    /// Whether every request is complete and answered, and another may follow.
    var isEmpty: Bool { begun == read && read == answered && !hasRefused && !hasLast }
    /// Whether a complete request waits for its response.
    var isAnswering: Bool { answered < read }
    /// Whether the parser has failed. It reads no further request, and the refusal itself is written later.
    private(set) var hasRefused = false
    /// Whether the connection closes after the requests so far (RFC 9112 §9.6). `HeadCheck` has written the field.
    private var hasLast = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request):
            begun += 1
            if request.headerFields[.connection] == "close" { hasLast = true }
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
