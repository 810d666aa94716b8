import HTTPTypes
import NIOCore
import OnesheetCore

#if canImport(Glibc)
    import Glibc
#endif

/// Answers simple HTTP/1.1 requests for cached images before the parser sees them. Every other request passes to the parser byte
/// for byte. The handler gives the result of its own parsing to the router.
///
/// At any moment, either this handler or the parser owns the connection. The parser owns it from its first byte until every request
/// it has read is answered, so responses leave in the order of their requests.
final class FastPathHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = IOData

    private let fastPath: LoopFastPath?
    private let connections: OpenConnections
    private let accessLog: AccessLog?
    private let addParser: () -> Void
    private var memory: ResponseMemory { connections.memory }
    private var receiver: BodyReceiver?
    /// The other end, for the access log.
    private var peer: IPAddress?
    /// The parser's requests. `nil` until there is a parser.
    private var parserRequests: UnansweredRequests?
    /// Whether the parser's input ended with a complete request, so the parser holds no partial request.
    private var parserIsDone = true
    /// Whether the parser received bytes since the last `channelReadComplete`.
    private var hasPassed = false

    /// - Parameters:
    ///   - fastPath: `nil` if the parser handles every request.
    ///   - accessLog: `nil` if there is none.
    ///   - addParser: adds the parser behind this handler. Called before the first bytes are passed to it.
    init(
        _ fastPath: LoopFastPath?, _ connections: OpenConnections, accessLog: AccessLog?, addParser: @escaping () -> Void
    ) {
        (self.fastPath, self.connections, self.accessLog, self.addParser) = (fastPath, connections, accessLog, addParser)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        receiver = BodyReceiver(context.channel, memory)
        if accessLog != nil { peer = context.channel.remoteAddress?.address }
    }

    /// The connection's current phase.
    var phase: ConnectionPhase {
        guard let parserRequests else { return .idle }
        if parserRequests.isReading { return .reading }
        if parserRequests.isAnswering { return .answering }
        // A refused request never completes. The client should close, so `requestTimeout` applies instead of the idle timeout.
        return parserIsDone && !parserRequests.hasRefused ? .idle : .reading
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if parserIsDone, parserRequests?.isEmpty ?? true, let heads = fastPath?.heads {
            var (hasAnswered, isCorked) = (false, false)
            let begun = NIODeadline.now()
            // If the client does not read its responses, let the parser handle the rest: its responses have backpressure.
            requests: while context.channel.isWritable, let request = SimpleRequest(bytes) {
                switch heads.answer(request, since: begun) {
                case .answer(let response):
                    if let accessLog { log(response, to: bytes.readableBytesView.prefix(request.length), begun, accessLog) }
                    bytes.moveReaderIndex(forwardBy: request.length)
                    if !isCorked, case .parts(_, .file) = response { isCorked = context.channel.cork(true) }
                    write(response, context)
                    hasAnswered = true
                case .route(let routed):
                    // The parser holds no bytes and no request is unanswered, so the router receives this request next.
                    if context.channel.isActive { fastPath?.routedRequests.handOver(routed, on: context.channel) }
                    break requests
                }
            }
            if hasAnswered { context.flush() }
            if isCorked { _ = context.channel.cork(false) }
        }
        if bytes.readableBytes > 0 { pass(bytes, context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // Drop a request that never reached the router.
        fastPath?.routedRequests.take(on: context.channel)
        context.fireChannelInactive()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // A parser without new input has nothing to complete.
        guard hasPassed else { return }
        hasPassed = false
        context.fireChannelReadComplete()
    }

    private func log(_ response: ReadyResponse, to head: ByteBufferView, _ begun: NIODeadline, _ accessLog: AccessLog) {
        // A copy: a slice would keep the whole read alive.
        var answered = AnsweredRequest(head: .bytes(ByteBuffer(bytes: head)), peer: peer)
        answered.note(response.head.fields)
        answered.bytes = response.length
        answered.took = .now() - begun
        accessLog.add(answered)
    }

    private func write(_ response: ReadyResponse, _ context: ChannelHandlerContext) {
        switch response {
        case .head(let head): write(.bytes(head.bytes), context)
        case .parts(let head, let body):
            write(.bytes(head.bytes), context)
            write(body, context)
        case .whole(let file, _): write(.file(file), context)
        }
    }

    private func write(_ body: ReadyBody, _ context: ChannelHandlerContext) {
        switch body {
        case .bytes(let bytes) where bytes.readableBytes > ResponseMemory.small: write(inPieces: bytes, context)
        case .bytes(let bytes): context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
        case .file(let file):
            let sent = context.eventLoop.makePromise(of: Void.self)
            // Keep the file open until it is sent.
            sent.futureResult.whenComplete { _ in withExtendedLifetime(file) {} }
            context.write(wrapOutboundOut(.fileRegion(file.region)), promise: sent)
        }
    }

    /// Writes a long body in pieces and accounts for its memory until the client has taken it, because the tier may evict it
    /// meanwhile. Short bodies need no accounting: writes stop as soon as the channel is not writable.
    private func write(inPieces bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        let (hold, receiver) = (memory.admit(bytes, isInTier: true), receiver)
        var rest = bytes
        while let piece = rest.readSlice(length: min(ResponseMemory.small, rest.readableBytes)), piece.readableBytes > 0 {
            let taken = context.eventLoop.makePromise(of: Void.self)
            receiver?.wrote(bytes.storageCapacity)
            taken.futureResult.whenComplete { _ in withExtendedLifetime(hold) { receiver?.took() } }
            context.write(wrapOutboundOut(.byteBuffer(piece)), promise: taken)
        }
    }

    private func pass(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        // The parser owns the connection from here on. It keeps it if its state cannot be read.
        (parserIsDone, hasPassed) = (false, true)
        if parserRequests == nil { parserRequests = newParserRequests(context) }
        context.fireChannelRead(wrapInboundOut(bytes))
        // The parser reads synchronously. After a plain end of a head it holds no bytes.
        guard let parserRequests, !parserRequests.isReading else { return }
        parserIsDone = bytes.readableBytesView.suffix(4).elementsEqual("\r\n\r\n".utf8)
    }

    /// Adds the parser.
    /// - Returns: `nil` if the connection is closed.
    private func newParserRequests(_ context: ChannelHandlerContext) -> UnansweredRequests? {
        addParser()
        do { return try context.pipeline.syncOperations.handler(type: UnansweredRequests.self) } catch { return nil }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The default handlers close the connection on these events and do not know of responses from the fast path that are still
        // being written.
        if event is ChannelShouldQuiesceEvent {
            passWhenSent(ChannelShouldQuiesceEvent(), context)
        } else if let end = event as? ChannelEvent, end == .inputClosed {
            passWhenSent(end, context)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private func passWhenSent(_ event: some Sendable, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return context.fireUserInboundEventTriggered(event) }
        let here = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer()))).whenComplete { _ in
            let (handler, context) = here.value
            // Without a parser there is no other request.
            if handler.parserRequests == nil {
                context.close(promise: nil)
            } else {
                context.fireUserInboundEventTriggered(event)
            }
        }
    }
}

extension Channel {
    /// Sets `TCP_CORK` (tcp(7)): partial packets wait for more data. Otherwise a head before a file leaves in a packet of its own,
    /// which costs as much as the file's packet. Call it on the channel's loop.
    /// - Returns: `false` if the connection does not support it, such as a Unix socket.
    fileprivate func cork(_ isCorked: Bool) -> Bool {
        #if canImport(Glibc)
            do {
                let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_CORK))
                try syncOptions?.setOption(option, value: isCorked ? 1 : 0)
                return syncOptions != nil
            } catch {
                return false
            }
        #else
            return false
        #endif
    }
}
