import NIOCore
import NIOHPACK
import NIOHTTP2
import OnesheetCore

/// The fast path of an HTTP/2 connection. It answers simple requests for cached images before their streams have channels, because a
/// channel costs several times as much as the response. Other requests get a channel and continue to the router with the parsed target.
///
/// A stream that the client resets at once (CVE-2023-44487) gets no channel either: each stream waits for the next frame, or for the
/// end of the read.
final class FastPathFrameHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// A stream that has no channel yet.
    private struct Opening {
        let head: HTTP2Frame
        /// The parsed request, if the fast path has parsed it.
        let routed: RoutedRequest?
        /// NIO's event for the stream, which its channel needs after the head.
        var created: NIOHTTP2StreamCreatedEvent?
    }

    /// Bytes of bodies between flushes. A full socket makes the channel unwritable only with a flush.
    private static let flushLimit = 32 << 10

    private let fastPath: LoopFastPath?
    private let accessLog: AccessLog?
    private let unsent: UnsentResponses
    private var opening: Opening?
    /// The parsed request of the stream whose channel is being created.
    private var routed: RoutedRequest?
    /// Bytes of bodies since the last flush.
    private var written = 0

    /// - Parameters:
    ///   - fastPath: `nil` if the router handles every request.
    ///   - accessLog: `nil` if there is none.
    ///   - idleTimeout: how long a client may take nothing of a response.
    init(_ fastPath: LoopFastPath?, _ memory: ResponseMemory, accessLog: AccessLog?, idleTimeout: TimeAmount) {
        (self.fastPath, self.accessLog) = (fastPath, accessLog)
        unsent = UnsentResponses(memory, idleTimeout: idleTimeout)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let here = NIOLoopBound(context, eventLoop: context.eventLoop)
        unsent.begin(on: context.eventLoop) { [self] stream in
            here.value.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: .rstStream(.cancel))), promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { unsent.end() }

    /// Gives the parsed request, if there is one, to the channel that the multiplexer is creating.
    func handOver(to stream: any Channel) {
        guard let routed, let requests = fastPath?.routedRequests else { return }
        self.routed = nil
        requests.handOver(routed, on: stream)
        stream.closeFuture.whenComplete { _ in requests.take(on: stream) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        if let opening, case .rstStream = frame.payload, frame.streamID == opening.head.streamID {
            return drop(opening, context)
        }
        open(context)
        // NIO has done what the frames of an answered request ask for.
        if unsent.contains(frame.streamID) { return }
        guard case .headers(let head) = frame.payload, head.headers.isRequest else { return context.fireChannelRead(data) }
        guard head.endStream, context.channel.isWritable, unsent.hasRoom, let heads = fastPath?.heads,
            let request = SimpleRequest(head.headers)
        else {
            opening = Opening(head: frame, routed: nil)
            return
        }
        let begun = NIODeadline.now()
        switch heads.answer(request, since: begun) {
        case .answer(let response):
            if let accessLog { log(response, to: head.headers, begun, accessLog, context) }
            write(response, on: frame.streamID, context)
        case .route(let routed): opening = Opening(head: frame, routed: routed)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        open(context)
        // NIO's handler has flushed before this call.
        written = 0
        unsent.count()
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        opening = nil
        unsent.end()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let created as NIOHTTP2StreamCreatedEvent where created.streamID == opening?.head.streamID:
            opening?.created = created
            return
        case let closed as StreamClosedEvent: unsent.remove(closed.streamID)
        case let window as NIOHTTP2WindowUpdatedEvent: unsent.progress(of: window.streamID)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Lets the multiplexer create the channel of the stream that waits for it.
    private func open(_ context: ChannelHandlerContext) {
        guard let opening else { return }
        self.opening = nil
        routed = opening.routed
        context.fireChannelRead(wrapInboundOut(opening.head))
        routed = nil
        if let created = opening.created { context.fireUserInboundEventTriggered(created) }
    }

    /// Drops a stream that its client has reset.
    private func drop(_ opening: Opening, _ context: ChannelHandlerContext) {
        self.opening = nil
        if let accessLog, case .headers(let head) = opening.head.payload {
            accessLog.add(AnsweredRequest(head: .parsed(RequestFacts(head.headers)), peer: context.remoteAddress?.address))
        }
        // The handlers behind count streams.
        if let created = opening.created { context.fireUserInboundEventTriggered(created) }
    }

    private func write(_ response: ReadyResponse, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        let body = response.body
        write(.headers(.init(headers: response.head.hpack, endStream: body == nil)), on: stream, context)
        guard let body else { return }
        unsent.add(body, on: stream)
        write(.data(.init(data: .byteBuffer(body), endStream: true)), on: stream, context)
        written += body.readableBytes
        guard written >= Self.flushLimit else { return }
        written = 0
        context.flush()
    }

    private func write(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
    }

    private func log(
        _ response: ReadyResponse, to head: HPACKHeaders, _ begun: NIODeadline, _ accessLog: AccessLog,
        _ context: ChannelHandlerContext
    ) {
        var answered = AnsweredRequest(head: .parsed(RequestFacts(head)), peer: context.remoteAddress?.address)
        answered.note(response.head.fields)
        answered.bytes = response.length
        answered.took = .now() - begun
        accessLog.add(answered)
    }
}

extension HPACKHeaders {
    /// Whether they begin a request. NIO has checked that trailers have no pseudo-header fields (RFC 9113 §8.1).
    fileprivate var isRequest: Bool { first?.name.utf8.first == UInt8(ascii: ":") }
}
