import NIOCore
import NIOHPACK
import NIOHTTP2
import OnesheetCore

/// The fast path of an HTTP/2 connection. It answers simple requests for cached images before their streams have channels, because a
/// channel costs several times as much as the response. Other requests get a channel, if there is room for one, and continue to the router
/// with the parsed target.
///
/// A request waits for the next frame, or for the end of the read, before it is looked at: a stream that the client resets at once
/// (CVE-2023-44487) costs no more than its frames.
final class FastPathFrameHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// The head of a request that has just been received.
    private struct Received {
        let frame: HTTP2Frame
        let head: HTTP2Frame.FramePayload.Headers
        let begun = NIODeadline.now()
        /// NIO's event for the stream, which the handlers behind need after the head.
        var created: NIOHTTP2StreamCreatedEvent?
    }

    /// Bytes of bodies between flushes. A full socket makes the channel unwritable only with a flush.
    private static let flushLimit = 32 << 10

    private let fastPath: LoopFastPath?
    private let connections: OpenConnections
    private let places: MemoryShare
    private let accessLog: AccessLog?
    /// The other end of the connection.
    private var peer: IPAddress?
    /// The address that streams count for.
    private var owner: ClientAddress?
    private let unsent: UnsentResponses
    private var received: Received?
    /// The newest stream that NIO has created.
    private var newest = HTTP2StreamID.rootStream
    /// State for the stream channel being created: its place, and the parsed request if there is one.
    private var opening: (place: MemoryShare.Place, routed: RoutedRequest?)?
    /// Bytes of bodies since the last flush.
    private var written = 0
    private var needsFlush = false

    /// - Parameters:
    ///   - fastPath: `nil` if the router handles every request.
    ///   - places: the places of streams that have a channel.
    ///   - accessLog: `nil` if there is none.
    ///   - idleTimeout: how long a client may take nothing of a response.
    init(
        _ fastPath: LoopFastPath?, connections: OpenConnections, places: MemoryShare, accessLog: AccessLog?, idleTimeout: TimeAmount
    ) {
        self.fastPath = fastPath
        self.connections = connections
        self.places = places
        self.accessLog = accessLog
        unsent = UnsentResponses(connections.memory, idleTimeout: idleTimeout)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        peer = context.remoteAddress?.address
        owner = connections.identity.owner(ofConnectionFrom: peer)
        let here = NIOLoopBound(context, eventLoop: context.eventLoop)
        unsent.begin(on: context.eventLoop, for: owner) { [self] stream in
            here.value.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: .rstStream(.cancel))), promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { unsent.end() }

    /// Gives its place, and the parsed request if there is one, to the channel that the multiplexer is creating.
    func handOver(to stream: any Channel) {
        guard let (place, routed) = opening else { return }
        opening = nil
        let requests = fastPath?.routedRequests
        if let routed { requests?.handOver(routed, on: stream) }
        stream.closeFuture.whenComplete { _ in
            requests?.remove(on: stream)
            withExtendedLifetime(place) {}
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        if let received, case .rstStream = frame.payload, frame.streamID == received.frame.streamID {
            self.received = nil
            return drop(received, context)
        }
        let before = received
        // A write delivers NIO's event for the new stream, which must find the request.
        if case .headers(let head) = frame.payload, head.headers.isRequest {
            received = Received(frame: frame, head: head)
        } else {
            received = nil
        }
        if let before { process(before, context) }
        if received == nil, !unsent.contains(frame.streamID) {
            // NIO itself does what the frames of an answered request ask for.
            context.fireChannelRead(data)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if let last = received {
            received = nil
            process(last, context)
        }
        if needsFlush { flush(context) }
        unsent.chargeMemory()
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let last = received {
            received = nil
            drop(last, context)
        }
        unsent.end()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let created as NIOHTTP2StreamCreatedEvent:
            newest = created.streamID
            guard received?.frame.streamID == newest else { break }
            received?.created = created
            return
        case let closed as StreamClosedEvent:
            // An error has ended the stream of a request that waits for the next frame. Its channel would never be closed.
            if let received, closed.streamID == received.frame.streamID {
                self.received = nil
                drop(received, context)
            }
            unsent.remove(closed.streamID)
            // NIO never created the stream of a request that it has refused, and the handlers behind count both events.
            if closed.streamID > newest { return }
        case let window as NIOHTTP2WindowUpdatedEvent: unsent.progress(of: window.streamID)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Answers a request, or lets the multiplexer create a channel for it if there is room.
    private func process(_ received: Received, _ context: ChannelHandlerContext) {
        // An error of the socket can end the connection while an earlier response is written.
        guard context.channel.isActive else { return drop(received, context) }
        let stream = received.frame.streamID
        var routed: RoutedRequest?
        switch outcome(of: received, context) {
        case .answer(let response)?:
            pass(received.created, context)
            log(received.head.headers) {
                $0.note(response.head.fields)
                ($0.bytes, $0.duration) = (response.length, .now() - received.begun)
            }
            return write(response, on: stream, context)
        case .route(let found)?: routed = found
        case nil: break
        }
        guard let place = places.admit(owner) else {
            pass(received.created, context)
            // A refused stream has no status. In the log it is what HTTP/1.1 clients get.
            log(received.head.headers) { $0.status = 503 }
            connections.count(.memory)
            // The client may send the request again (RFC 9113 §8.7).
            return write(.rstStream(.refusedStream), on: stream, context)
        }
        opening = (place, routed)
        context.fireChannelRead(wrapInboundOut(received.frame))
        opening = nil
        pass(received.created, context)
    }

    /// The result of the fast path. `nil` for a request that is not simple, and if the client leaves too much unread.
    private func outcome(of received: Received, _ context: ChannelHandlerContext) -> ResponseHeadCache.Outcome? {
        guard received.head.endStream, context.channel.isWritable, unsent.hasRoom,
            let request = SimpleRequest(received.head.headers)
        else { return nil }
        return fastPath?.heads.answer(request, since: received.begun)
    }

    /// Drops a request whose stream is closed.
    private func drop(_ received: Received, _ context: ChannelHandlerContext) {
        log(received.head.headers) { _ in }
        pass(received.created, context)
    }

    private func pass(_ created: NIOHTTP2StreamCreatedEvent?, _ context: ChannelHandlerContext) {
        if let created { context.fireUserInboundEventTriggered(created) }
    }

    private func write(_ response: ReadyResponse, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        let body = response.body
        write(.headers(.init(headers: response.head.hpack, endStream: body == nil)), on: stream, context)
        guard let body else { return }
        unsent.add(body, on: stream)
        write(.data(.init(data: .byteBuffer(body), endStream: true)), on: stream, context)
        written += body.readableBytes
        if written >= Self.flushLimit { flush(context) }
    }

    private func flush(_ context: ChannelHandlerContext) {
        (written, needsFlush) = (0, false)
        context.flush()
    }

    private func write(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        needsFlush = true
        context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
    }

    /// - Parameter note: adds the known facts of the response.
    private func log(_ head: HPACKHeaders, _ note: (inout LoggedRequest) -> Void) {
        guard let accessLog else { return }
        var answered = LoggedRequest(head: .parsed(RequestFacts(head)), peer: peer)
        note(&answered)
        accessLog.add(answered)
    }
}

extension HPACKHeaders {
    /// Whether they begin a request. NIO has checked that trailers have no pseudo-header fields (RFC 9113 §8.1).
    fileprivate var isRequest: Bool { first?.name.utf8.first == UInt8(ascii: ":") }
}
