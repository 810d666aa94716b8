import HTTPTypes
import NIOCore
import OnesheetCore

#if canImport(Glibc)
    import Glibc
#endif

/// Answers simple HTTP/1.1 requests for cached images and kept documents before the parser sees them. Every other request passes to the parser byte
/// for byte. The handler gives its results to the router: the route, the parsed address and the lookup in the tiers.
///
/// The parser reads the head of such a request again, and `HeadCheck` its `Host`: NIO's parser accepts nothing but bytes, and derives the
/// state of the connection from them. Such a request costs far more than its head (docs/decisions/0001).
///
/// At any moment, either this handler or the parser owns the connection. The parser owns it from its first byte until every request
/// it has read is answered, so responses leave in the order of their requests.
///
/// Pipelined requests wait here until the client has taken the responses before them (RFC 9112 §9.3.2). Nothing is read meanwhile.
final class FastPathHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private let fastPath: LoopFastPath?
    private let client: ClientConnection
    private let next: NextRequest
    private let memory: ResponseMemory
    private let accessLog: AccessLog?
    private let timeouts: ClientTimeouts
    private let addParser: () -> Void
    private var receiver: BodyReceiver?
    /// `nil` before the first response that leaves without the channel.
    private var socket: PlainSocket?
    /// Whether earlier responses may wait in the channel. The socket alone must not be used then. Only this handler and the parser write,
    /// and the parser has written nothing since the last `pass` if all its requests are answered.
    private var mayHaveUnsent = false
    /// The other end, for the access log.
    private var peer: IPAddress?
    /// The parser's requests. `nil` until there is a parser.
    private var parserRequests: UnansweredRequests?
    /// Whether the parser's input ended with a complete request, so the parser holds no partial request.
    private var parserIsDone = true
    /// Whether the parser received bytes since the last `channelReadComplete`.
    private var hasPassed = false
    /// Unhandled bytes behind a response.
    private var waiting: (bytes: ByteBuffer, event: WaitedEvent)?
    /// The requests that were answered here.
    private var answered = 0
    /// The requests of the connection so far.
    private var requests: Int { answered + (parserRequests?.begun ?? 0) }
    /// Whether a read was suppressed.
    private var wantsRead = false
    /// Whether the connection closes when everything is sent. Requests that follow are dropped (RFC 9112 §9.6).
    private var isClosing = false
    /// The end of the connection or of the client's side, behind requests that wait.
    private var ends: [any Sendable] = []

    /// The most bytes that wait. Although nothing is read meanwhile, NIO reads all that has arrived when the client closes its side.
    private static let waitingLimit = 256 << 10

    /// The time in which a client that has closed its side still gets an answer.
    private static let patience = TimeAmount.seconds(1)

    /// The event that bytes wait for.
    private enum WaitedEvent {
        /// The client takes what was written.
        case writability
        /// The rest of the request arrives.
        case rest
    }

    /// - Parameters:
    ///   - fastPath: `nil` if the parser handles every request.
    ///   - accessLog: `nil` if there is none.
    ///   - addParser: adds the parser behind this handler. Called before the first bytes are passed to it.
    init(
        _ fastPath: LoopFastPath?, of client: ClientConnection, next: NextRequest, memory: ResponseMemory, accessLog: AccessLog?,
        timeouts: ClientTimeouts,
        addParser: @escaping () -> Void
    ) {
        self.fastPath = fastPath
        self.client = client
        self.next = next
        self.memory = memory
        self.accessLog = accessLog
        self.timeouts = timeouts
        self.addParser = addParser
    }

    func handlerAdded(context: ChannelHandlerContext) {
        receiver = BodyReceiver(context.channel, memory)
        if accessLog != nil { peer = context.channel.remoteAddress?.address }
        timeouts.begin(context) { [self] in phase }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timeouts.end() }

    /// The connection's current phase.
    var phase: ConnectionPhase {
        switch waiting?.event {
        case .writability: return .answering
        case .rest: return .reading(requests)
        case nil: break
        }
        guard let parserRequests else { return .idle }
        if parserRequests.isReading { return .reading(requests) }
        if parserRequests.isAnswering { return .answering }
        // A refused request never completes. The client should close, so `requestTimeout` applies instead of the idle timeout.
        return parserIsDone && !parserRequests.hasRefused ? .idle : .reading(requests)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let now = NIODeadline.now()
        timeouts.received(at: now)
        var bytes = unwrapInboundIn(data)
        if var before = waiting {
            before.bytes.writeBuffer(&bytes)
            waiting = before
            if before.event == .rest {
                resume(context, at: now)
            } else if before.bytes.readableBytes > Self.waitingLimit {
                context.close(promise: nil)
            }
        } else {
            process(bytes, context, at: now)
        }
        timeouts.processed()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // A parser without new input has nothing to complete.
        guard hasPassed else { return }
        hasPassed = false
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { resumeSoon(context) }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        client.noteLeft()
        timeouts.end()
        (waiting, ends, socket) = (nil, [], nil)
        context.fireChannelInactive()
    }

    func read(context: ChannelHandlerContext) {
        if waiting?.event == .writability { wantsRead = true } else { context.read() }
    }

    /// Answers the simple requests at the beginning of `received`. The others, and what follows them, are the parser's.
    /// - Parameter begun: the present time.
    private func process(_ received: ByteBuffer, _ context: ChannelHandlerContext, at begun: NIODeadline) {
        guard received.readableBytes > 0, !isClosing else { return }
        guard parserIsDone, parserRequests?.isEmpty ?? true, let heads = fastPath?.heads else { return pass(received, context) }
        var bytes = received
        var (hasAnswered, hasWritten, hasRouted, isCorked) = (false, false, false, false)
        while !hasRouted, !isClosing, bytes.readableBytes > 0, context.channel.isWritable, let request = SimpleRequest(bytes) {
            switch heads.answer(request, since: begun) {
            case .answer(let response):
                if let accessLog { log(response, to: bytes.readableBytesView.prefix(request.length), since: begun, in: accessLog) }
                bytes.moveReaderIndex(forwardBy: request.length)
                hasAnswered = true
                isClosing = request.isLast
                answered += 1
                if !isCorked, case .parts(_, .file) = response { isCorked = context.channel.cork(true) }
                // The responses to pipelined requests leave together.
                let isAlone = !hasWritten && bytes.readableBytes == 0
                if write(response, isAlone: isAlone, context) { hasWritten = true }
            case .route(let routed):
                // The parser holds no bytes and no request is unanswered, so the router receives this request next.
                next.handOver(routed)
                hasRouted = true
            }
        }
        if isClosing { bytes.moveReaderIndex(to: bytes.writerIndex) }
        let event = hasRouted || bytes.readableBytes == 0 ? nil : eventAwaited(by: bytes, behindResponse: hasAnswered, context)
        if let event { waiting = (bytes, event) }
        if hasWritten { context.flush() }
        if isCorked { _ = context.channel.cork(false) }
        if isClosing { endWhenSent(context) }
        if event == nil, bytes.readableBytes > 0 { pass(bytes, context) }
    }

    /// The event that `bytes` must wait for. `nil` if they are the parser's.
    private func eventAwaited(
        by bytes: ByteBuffer, behindResponse: Bool, _ context: ChannelHandlerContext
    ) -> WaitedEvent? {
        if !context.channel.isWritable { return .writability }
        // Reads end anywhere in a row of pipelined requests.
        return behindResponse && SimpleRequest.mayBegin(bytes) ? .rest : nil
    }

    /// Processes the bytes that waited for writability. Other connections have their turn first: a client that takes everything at once
    /// would otherwise get all its responses in one turn of the loop.
    private func resumeSoon(_ context: ChannelHandlerContext) {
        guard waiting?.event == .writability else { return }
        let here = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let (handler, context) = here.value
            guard handler.waiting?.event == .writability, context.channel.isWritable else { return }
            let now = NIODeadline.now()
            // The client could not have sent the rest of a request: nothing was read meanwhile.
            handler.timeouts.received(at: now)
            handler.resume(context, at: now)
            handler.timeouts.processed()
            handler.channelReadComplete(context: context)
            guard handler.waiting?.event != .writability else { return }
            for end in handler.ends { handler.end(end, context) }
            handler.ends = []
            if handler.wantsRead {
                handler.wantsRead = false
                context.read()
            }
        }
    }

    /// Processes the bytes that have waited.
    private func resume(_ context: ChannelHandlerContext, at now: NIODeadline) {
        guard let bytes = waiting?.bytes else { return }
        waiting = nil
        process(bytes, context, at: now)
    }

    private func log(_ response: ReadyResponse, to head: ByteBufferView, since begun: NIODeadline, in accessLog: AccessLog) {
        // A copy: a slice would keep the whole read alive.
        var answered = LoggedRequest(head: .bytes(ByteBuffer(bytes: head)), peer: peer)
        answered.note(response.head.fields)
        answered.bytes = response.length
        answered.duration = .now() - begun
        accessLog.add(answered)
    }

    /// - Parameter isAlone: whether no other response leaves with this one.
    /// - Returns: whether the channel has a part of it, which must be flushed.
    private func write(_ response: ReadyResponse, isAlone: Bool, _ context: ChannelHandlerContext) -> Bool {
        switch response {
        case .head(let head):
            var head = head.bytes
            if isAlone { head.moveReaderIndex(forwardBy: sendAtOnce(head, in: context)) }
            guard head.readableBytes > 0 else { return false }
            write(.bytes(head), context)
        case .parts(let head, .bytes(var body)) where isAlone && body.readableBytes <= ResponseMemory.small:
            var head = head.bytes
            let sent = sendAtOnce(head, body: body, in: context)
            let sentOfHead = min(sent, head.readableBytes)
            head.moveReaderIndex(forwardBy: sentOfHead)
            body.moveReaderIndex(forwardBy: sent - sentOfHead)
            guard head.readableBytes > 0 || body.readableBytes > 0 else { return false }
            if head.readableBytes > 0 { write(.bytes(head), context) }
            write(.bytes(body), context)
        case .parts(let head, let body):
            write(.bytes(head.bytes), context)
            write(body, context)
        case .whole(let file, _): write(.file(file), context)
        }
        mayHaveUnsent = true
        return true
    }

    /// Sends a response to the socket itself, unless earlier bytes wait in the channel.
    /// - Returns: the number of bytes sent. The channel must send the others.
    private func sendAtOnce(_ head: ByteBuffer, body: ByteBuffer = ByteBuffer(), in context: ChannelHandlerContext) -> Int {
        guard fastPath?.isEncrypted == false, context.channel.isActive else { return 0 }
        if mayHaveUnsent {
            guard context.channel.bufferedBytes == 0 else { return 0 }
            mayHaveUnsent = false
        }
        if socket == nil { socket = PlainSocket(context.channel) }
        return socket?.send(head, body) ?? 0
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
            let delivery = context.eventLoop.makePromise(of: Void.self)
            receiver?.wrote(bytes)
            delivery.futureResult.whenComplete { _ in withExtendedLifetime(hold) { receiver?.finished() } }
            context.write(wrapOutboundOut(.byteBuffer(piece)), promise: delivery)
        }
    }

    private func pass(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        // The parser owns the connection from here on. It keeps it if its state cannot be read.
        (parserIsDone, hasPassed, mayHaveUnsent) = (false, true, true)
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
        let end: (any Sendable)? =
            if event is ChannelShouldQuiesceEvent {
                ChannelShouldQuiesceEvent()
            } else if let input = event as? ChannelEvent, input == .inputClosed {
                input
            } else {
                nil
            }
        guard let end else { return context.fireUserInboundEventTriggered(event) }
        if end is ChannelEvent {
            // The client may only have no further request. nginx and Go's server give up at once.
            context.eventLoop.scheduleTask(in: Self.patience) { [client] in client.noteLeft() }
        }
        if waiting?.event == .writability { ends.append(end) } else { self.end(end, context) }
    }

    /// Ends the connection, or the client's side of it, after everything is sent. The default handlers close the connection at once, and
    /// do not know of responses from the fast path that are still being written.
    private func end(_ event: any Sendable, _ context: ChannelHandlerContext) {
        if let (bytes, _) = waiting {
            // No rest will arrive.
            waiting = nil
            pass(bytes, context)
            channelReadComplete(context: context)
        }
        passWhenSent(event, context)
    }

    private func passWhenSent(_ event: any Sendable, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return context.fireUserInboundEventTriggered(event) }
        whenSent(context) { handler, context in
            // Without a parser there is no other request.
            if handler.parserRequests == nil || handler.isClosing {
                context.close(promise: nil)
            } else {
                context.fireUserInboundEventTriggered(event)
            }
        }
    }

    /// Ends the connection after its last response. The client closes its side when it has everything, or the idle timeout closes both: the
    /// system drops what is on its way if a connection closes while bytes of the client are unread. A TLS handler ends both sides in turn.
    private func endWhenSent(_ context: ChannelHandlerContext) {
        let mode: CloseMode = fastPath?.isEncrypted == true ? .all : .output
        whenSent(context) { _, context in context.close(mode: mode, promise: nil) }
    }

    private func whenSent(
        _ context: ChannelHandlerContext, _ next: @escaping @Sendable (FastPathHandler, ChannelHandlerContext) -> Void
    ) {
        let here = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer()))).whenComplete { _ in
            let (handler, context) = here.value
            next(handler, context)
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
