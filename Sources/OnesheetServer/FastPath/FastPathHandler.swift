import NIOCore
import OnesheetCore

#if canImport(Glibc)
    import Glibc
#endif

/// Answers simple requests of HTTP/1.1 that a tier has the image for, before the parser sees them. Everything else goes on to the
/// parser, byte for byte, and what was found about a request goes with it to the router.
///
/// A connection is either this handler's or the parser's: from the first byte that the parser gets until all that it has read is
/// answered, everything is the parser's, so that responses leave in the order of their requests.
final class FastPathHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = IOData

    private let fastPath: LoopFastPath?
    private let connections: OpenConnections
    private var memory: ResponseMemory { connections.memory }
    private var receiver: BodyReceiver?
    /// The parser's requests, once it has got any bytes.
    private var parsers: UnansweredRequests?
    /// Whether what the parser got last was the end of a request, so that it holds no part of another one.
    private var parserIsDone = true
    /// Whether the parser got something since it was told that this was all for now.
    private var hasPassed = false

    /// - Parameter fastPath: `nil` if everything is the parser's.
    init(_ fastPath: LoopFastPath?, _ connections: OpenConnections) {
        (self.fastPath, self.connections) = (fastPath, connections)
    }

    func handlerAdded(context: ChannelHandlerContext) { receiver = BodyReceiver(context.channel, memory) }

    /// What the connection waits for.
    var phase: ConnectionPhase {
        guard let parsers else { return .idle }
        if parsers.isReading { return .reading }
        if parsers.isAnswering { return .answering }
        // What was refused never becomes whole; its sender is to close, and not waited for any longer than for the rest.
        return parserIsDone && !parsers.hasRefused ? .idle : .reading
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if parserIsDone, parsers?.isEmpty ?? true, let heads = fastPath?.heads {
            var (hasAnswered, isCorked) = (false, false)
            // A client that does not read its responses waits for the parser's, which are held back for it.
            requests: while context.channel.isWritable, let request = SimpleRequest(bytes) {
                switch heads.answer(request) {
                case .answer(let response):
                    bytes.moveReaderIndex(forwardBy: request.length)
                    if !isCorked, case .parts(_, .file) = response { isCorked = context.channel.cork(true) }
                    write(response, context)
                    hasAnswered = true
                case .route(let routed):
                    // The parser holds nothing and everything is answered, so this is the next request that the router gets.
                    fastPath?.routedRequests.handOver(routed, on: context.channel)
                    break requests
                }
            }
            if hasAnswered { context.flush() }
            if isCorked { _ = context.channel.cork(false) }
        }
        if bytes.readableBytes > 0 { pass(bytes, context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // A request that never reached the router.
        fastPath?.routedRequests.take(on: context.channel)
        context.fireChannelInactive()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // A parser that got nothing has nothing to complete.
        guard hasPassed else { return }
        hasPassed = false
        context.fireChannelReadComplete()
    }

    private func write(_ response: ReadyResponse, _ context: ChannelHandlerContext) {
        switch response {
        case .head(let head): write(.bytes(head.bytes), context)
        case .parts(let head, let body):
            write(.bytes(head.bytes), context)
            write(body, context)
        case .whole(let file): write(.file(file), context)
        }
    }

    private func write(_ body: ReadyBody, _ context: ChannelHandlerContext) {
        switch body {
        case .bytes(let bytes) where bytes.readableBytes > ResponseMemory.small: write(inPieces: bytes, context)
        case .bytes(let bytes): context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
        case .file(let file):
            let sent = context.eventLoop.makePromise(of: Void.self)
            // Held open until then.
            sent.futureResult.whenComplete { _ in withExtendedLifetime(file) {} }
            context.write(wrapOutboundOut(.fileRegion(file.region)), promise: sent)
        }
    }

    /// A long body stays in memory for as long as the client takes, also if the tier lets go of it. Short ones are few, as no more are
    /// written than the system takes and one.
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
        // From here on the connection is the parser's, and it stays so if it cannot be seen when the parser is done.
        (parserIsDone, hasPassed) = (false, true)
        do {
            parsers = try parsers ?? context.pipeline.syncOperations.handler(type: UnansweredRequests.self)
        } catch {
            parsers = nil
        }
        context.fireChannelRead(wrapInboundOut(bytes))
        // The parser reads at once, and a plain end of a head leaves nothing over.
        guard let parsers, !parsers.isReading else { return }
        parserIsDone = bytes.readableBytesView.suffix(4).elementsEqual("\r\n\r\n".utf8)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A handler that closes the connection after one of these does not know of responses that are still on their way from here.
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
        let here = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer()))).whenComplete { _ in
            here.value.fireUserInboundEventTriggered(event)
        }
    }
}

extension Channel {
    /// Whether packets that are not full wait for more (tcp(7), TCP_CORK). A head that is followed by a file would else leave in a packet
    /// of its own, which costs as much as the file's. To be asked on the channel's loop.
    /// - Returns: whether the connection can do that: those that are not TCP cannot.
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
