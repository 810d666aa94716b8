import NIOCore
import NIOHTTP2

/// Answers simple requests for cached images and kept documents on an HTTP/2 connection, between NIO's handler of frames and its multiplexer: the fast path.
/// Their streams get no channel, which would cost more than the response. Neither do streams that the client resets in the read in which it
/// opens them (CVE-2023-44487): the heads of a read go to the multiplexer at its end.
final class FastStreams: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let requests: StreamRequests
    private let memory: ResponseMemory
    private let idleTimeout: TimeAmount
    /// `nil` before the handler is added and after it is removed.
    private var unsent: UnsentResponses?
    private var newest = HTTP2StreamID.rootStream
    /// The streams that have no channel.
    private var answered: Set<HTTP2StreamID> = []
    private var hasWritten = false
    /// The heads of this read that the fast path does not answer.
    private var heads = CircularBuffer<Head>()
    /// That of the head that is being passed on.
    private var created: NIOHTTP2StreamCreatedEvent?

    private struct Head {
        let frame: HTTP2Frame
        let request: StreamRequest
        /// The request as the fast path has parsed it, if it has.
        let routed: RoutedRequest?
        /// NIO tells of the stream after its head, and the multiplexer needs that order: the event activates the channel.
        var created: NIOHTTP2StreamCreatedEvent?
    }

    /// - Parameters:
    ///   - memory: counts the responses that the client does not take.
    ///   - idleTimeout: how long a client may take nothing of a response.
    init(_ requests: StreamRequests, memory: ResponseMemory, idleTimeout: TimeAmount) {
        (self.requests, self.memory, self.idleTimeout) = (requests, memory, idleTimeout)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let here = NIOLoopBound(context, eventLoop: context.eventLoop)
        unsent = UnsentResponses(memory, for: requests.owner, idleTimeout: idleTimeout, on: context.eventLoop) { stream in
            here.value.writeAndFlush(NIOAny(HTTP2Frame(streamID: stream, payload: .rstStream(.cancel))), promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for head in heads { requests.drop(head.request) }
        heads.removeAll()
        unsent?.end()
        unsent = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        if case .headers(let head) = frame.payload, frame.streamID > newest {
            newest = frame.streamID
            return receive(frame, StreamRequest(fields: head.headers), isLast: head.endStream, context)
        }
        // What a client says of such a stream concerns NIO's windows and states alone.
        guard !answered.contains(frame.streamID) else { return }
        if case .rstStream = frame.payload, drop(frame.streamID) { return }
        passHeads(context)
        context.fireChannelRead(data)
    }

    /// Forgets the head of a stream that has ended.
    /// - Returns: whether it was still here.
    private func drop(_ stream: HTTP2StreamID) -> Bool {
        guard let index = heads.lastIndex(where: { $0.frame.streamID == stream }) else { return false }
        requests.drop(heads.remove(at: index).request)
        return true
    }

    /// Answers a request, or keeps its head until the end of the read.
    private func receive(_ frame: HTTP2Frame, _ request: StreamRequest, isLast: Bool, _ context: ChannelHandlerContext) {
        var routed: RoutedRequest?
        if isLast, context.channel.isWritable, let unsent, unsent.hasRoom, RequestFields.areHead(request.fields) {
            switch requests.hit(request) {
            case .answer(let response)?: return send(response, on: frame.streamID, unsent, context)
            case .route(let parsed)?: routed = parsed
            case nil: break
            }
        }
        heads.append(Head(frame: frame, request: request, routed: routed))
    }

    /// Passes the heads on. The multiplexer creates the channel of a stream while it gets its head, and asks for the parsed request then.
    private func passHeads(_ context: ChannelHandlerContext) {
        while let head = heads.popFirst() {
            requests.handOver(head.routed)
            created = head.created
            context.fireChannelRead(wrapInboundOut(head.frame))
            tellCreated(context)
        }
    }

    private func tellCreated(_ context: ChannelHandlerContext) {
        if let created = created.take() { context.fireUserInboundEventTriggered(created) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as NIOHTTP2StreamCreatedEvent where heads.last?.frame.streamID == event.streamID:
            heads[heads.index(before: heads.endIndex)].created = event
            return
        case let closed as StreamClosedEvent:
            if drop(closed.streamID) { return }
            if answered.remove(closed.streamID) != nil { requests.open -= 1 }
        default: break
        }
        // The channel of a stream may have closed it while it got the head.
        tellCreated(context)
        context.fireUserInboundEventTriggered(event)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passHeads(context)
        if hasWritten { context.flush() }
        hasWritten = false
        context.fireChannelReadComplete()
    }

    private func send(
        _ response: ReadyResponse, on stream: HTTP2StreamID, _ unsent: UnsentResponses, _ context: ChannelHandlerContext
    ) {
        hasWritten = true
        answered.insert(stream)
        requests.open += 1
        func write(_ payload: HTTP2Frame.FramePayload, _ promise: EventLoopPromise<Void>?) {
            context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: promise)
        }
        let body = response.body.flatMap { $0.readableBytes > 0 ? $0 : nil }
        write(.headers(.init(headers: response.head.block, endStream: body == nil)), nil)
        guard let body else { return }
        unsent.write(body, on: stream) { piece, isLast, promise in
            write(.data(.init(data: .byteBuffer(piece), endStream: isLast)), promise)
        }
        // The rest of a read waits for its end.
        if !unsent.hasRoom { context.flush() }
    }
}
