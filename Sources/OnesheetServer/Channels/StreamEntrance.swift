import NIOCore
import NIOHPACK
import NIOHTTP2

/// The first handler of an HTTP/2 stream that `FastStreams` does not answer. It waits for the stream's turn, and then lets the other handlers
/// be added.
final class StreamEntrance: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private enum Phase {
        case beginning
        /// The request waits for its turn, with what has arrived behind its head.
        case waiting(StreamRequest, [HTTP2Frame.FramePayload])
        case begun
        /// Answered, refused or reset. What the client sends is ignored.
        case done
    }

    /// The most frames that may wait behind the head.
    private static let mostWaiting = 64

    private let requests: StreamRequests
    private let addHandlers: (any Channel) -> Void
    private var phase = Phase.beginning
    private var context: ChannelHandlerContext?
    /// That of a stream that the router answers.
    private var place: MemoryShare.Place?
    /// Whether the body of the request has no meaning (RFC 9110 §9.3.1).
    private var dropsBody = false

    /// - Parameter addHandlers: adds the other handlers of the stream behind this one.
    init(_ requests: StreamRequests, addHandlers: @escaping (any Channel) -> Void) {
        self.requests = requests
        self.addHandlers = addHandlers
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        requests.open += 1
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave(context)
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave(context)
        context.fireChannelInactive()
    }

    private func leave(_ context: ChannelHandlerContext) {
        if case .waiting(let request, _) = phase { requests.drop(request) }
        if self.context != nil { requests.open -= 1 }
        (phase, place, self.context) = (.done, nil, nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let payload = unwrapInboundIn(data)
        if case .headers(let fields) = payload {
            if case .beginning = phase { return receive(fields, context) }
            guard RequestFields.areTrailers(fields.headers) else { return refuse(context) }
        }
        switch phase {
        case .beginning, .done: break
        case .waiting(let request, var frames):
            guard let payload = withoutBody(payload) else { return }
            guard frames.count <= Self.mostWaiting else { return reset(.enhanceYourCalm, context) }
            frames.append(payload)
            phase = .waiting(request, frames)
        case .begun: if let payload = withoutBody(payload) { context.fireChannelRead(wrapInboundOut(payload)) }
        }
    }

    /// The same frame without a body that has no meaning, which would wait here until the response; `nil` if nothing is left.
    private func withoutBody(_ payload: HTTP2Frame.FramePayload) -> HTTP2Frame.FramePayload? {
        guard dropsBody, case .data(let part) = payload else { return payload }
        return part.endStream ? .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)) : nil
    }

    /// The connection says goodbye by itself, and its streams end with their responses.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !(event is ChannelShouldQuiesceEvent) { context.fireUserInboundEventTriggered(event) }
    }

    private func receive(_ head: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext) {
        guard RequestFields.areHead(head.headers) else { return refuse(context) }
        let request = StreamRequest(fields: head.headers)
        dropsBody = ["GET", "HEAD"].contains(head.headers.first(name: ":method"))
        phase = .waiting(request, [.headers(head)])
        if requests.hasTurn { admit(request, context) }
        if case .waiting = phase { requests.wait(self) }
    }

    /// Gives `request` a place, or refuses it.
    private func admit(_ request: StreamRequest, _ context: ChannelHandlerContext) {
        place = requests.admit(request)
        guard place == nil else { return }
        phase = .done
        reset(.refusedStream, context)
    }

    /// Resets the stream of a malformed request, or ends the connection if there were many.
    private func refuse(_ context: ChannelHandlerContext) {
        if requests.countMalformed() { return reset(.protocolError, context) }
        context.channel.parent?.close(promise: nil)
    }

    private func reset(_ code: HTTP2ErrorCode, _ context: ChannelHandlerContext) {
        if case .waiting(let request, _) = phase { requests.drop(request) }
        phase = .done
        context.writeAndFlush(wrapOutboundOut(.rstStream(code)), promise: nil)
    }

    /// Lets the router answer the request.
    /// - Returns: what that costs, in responses of the fast path; 0 if the client has left.
    func begin() -> Int {
        guard let context, case .waiting(let request, _) = phase else { return 0 }
        if place == nil { admit(request, context) }
        guard case .waiting(_, let frames) = phase else { return 1 }
        phase = .begun
        addHandlers(context.channel)
        for frame in frames { context.fireChannelRead(wrapInboundOut(frame)) }
        context.fireChannelReadComplete()
        return StreamRequests.costOfRouter
    }
}
