import NIOCore
import NIOHTTP2

/// Answers simple requests for cached images on an HTTP/2 connection, between NIO's handler of frames and its multiplexer: the fast path.
/// Their streams get no channel, which would cost more than the response.
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
        unsent?.end()
        unsent = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        if case .headers(let head) = frame.payload, frame.streamID > newest {
            newest = frame.streamID
            requests.beginStream()
            if head.endStream, context.channel.isWritable, let unsent, unsent.hasRoom, RequestFields.areHead(head.headers),
                let response = requests.hit(StreamRequest(fields: head.headers))
            {
                return send(response, on: frame.streamID, unsent, context)
            }
        }
        // What a client says of such a stream concerns NIO's windows and states alone.
        if !answered.contains(frame.streamID) { context.fireChannelRead(data) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let closed = event as? StreamClosedEvent, answered.remove(closed.streamID) != nil { requests.open -= 1 }
        context.fireUserInboundEventTriggered(event)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
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
