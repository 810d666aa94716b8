import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The fast path of one HTTP/2 stream, whose request is already decoded. Other requests continue to the router with the parsed
/// target.
final class FastPathStreamHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let fastPath: FastPath?
    /// A simple request head that waits for the end of the request, because a body may follow.
    private var begun: (head: HTTPRequest, request: SimpleRequest)?

    /// - Parameter fastPath: `nil` turns the fast path off.
    init(_ fastPath: FastPath?) { self.fastPath = fastPath }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard fastPath != nil, let request = SimpleRequest(head) else { return context.fireChannelRead(data) }
            begun = (head, request)
        case .body:
            passHead(context)
            context.fireChannelRead(data)
        case .end(let trailers):
            if let begun, trailers == nil, isAnswered(begun.request, context) { return self.begun = nil }
            passHead(context)
            context.fireChannelRead(data)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // Drop a request that never reached the router.
        fastPath?.routedRequests.take(on: context.channel)
        context.fireChannelInactive()
    }

    private func passHead(_ context: ChannelHandlerContext) {
        guard let head = begun?.head else { return }
        begun = nil
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// Answers `request` if it can be answered without waiting.
    private func isAnswered(_ request: SimpleRequest, _ context: ChannelHandlerContext) -> Bool {
        guard context.channel.isWritable, let heads = fastPath?.part(on: context.eventLoop).heads else { return false }
        switch heads.answer(request, since: .now()) {
        case .answer(.head(let head)): write(head, body: nil, context)
        case .answer(.parts(let head, let body)): write(head, body: body.bytes, context)
        // Whole files are only prepared for unencrypted connections.
        case .answer(.whole): return false
        case .route(let routed):
            fastPath?.routedRequests.handOver(routed, on: context.channel)
            return false
        }
        return true
    }

    private func write(_ head: ResponseHead, body: ByteBuffer?, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(head.fields)), promise: nil)
        if let body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
