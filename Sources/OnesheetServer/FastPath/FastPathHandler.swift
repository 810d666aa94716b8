import NIOCore
import OnesheetCore

/// Answers plain requests that memory has the answer to, before the parser sees them. All else goes on to the parser, byte for byte.
///
/// A connection is either this handler's or the parser's: from the first byte that the parser gets until all that it has read is
/// answered, everything is the parser's, so that answers leave in the order of their requests.
final class HitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = IOData

    private let hits: LoopHits?
    private let memory: ResponseMemory
    private var receiver: BodyReceiver?
    /// The parser's requests, once it has got any bytes.
    private var parsers: UnansweredRequests?
    /// Whether what the parser got last was the end of a request, so that it holds no part of another one.
    private var parserIsDone = true
    /// Whether the parser got something since it was told that this was all for now.
    private var hasPassed = false

    /// - Parameters:
    ///   - hits: `nil` if everything is the parser's.
    ///   - memory: counts what is on its way.
    init(_ hits: LoopHits?, _ memory: ResponseMemory) { (self.hits, self.memory) = (hits, memory) }

    func handlerAdded(context: ChannelHandlerContext) { receiver = BodyReceiver(context.channel, memory) }

    /// What the connection waits for.
    var phase: ConnectionPhase {
        guard let parsers else { return .idle }
        if parsers.isReading { return .reading }
        if parsers.isAnswering { return .answering }
        // What was refused never becomes whole; whoever sent it is to close, and not waited for any longer than for the rest.
        return parserIsDone && !parsers.hasRefused ? .idle : .reading
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if parserIsDone, parsers?.isEmpty ?? true, let hits = hits?.current {
            var (hasAnswered, isCorked) = (false, false)
            // A client that does not read its answers waits for the parser's, which are held back for it.
            while context.channel.isWritable, let request = PlainRequest(bytes.readableBytesUInt8Span),
                let answer = hits.answer(request, in: bytes)
            {
                bytes.moveReaderIndex(forwardBy: request.length)
                if !isCorked, case .parts(_, .file) = answer { isCorked = context.channel.cork(true) }
                write(answer, context)
                hasAnswered = true
            }
            if hasAnswered { context.flush() }
            if isCorked { _ = context.channel.cork(false) }
        }
        if bytes.readableBytes > 0 { pass(bytes, context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Whoever got nothing has nothing to complete.
        guard hasPassed else { return }
        hasPassed = false
        context.fireChannelReadComplete()
    }

    private func write(_ answer: HitAnswer, _ context: ChannelHandlerContext) {
        switch answer {
        case .head(let head): write(.bytes(head), context)
        case .parts(let head, let body):
            write(.bytes(head), context)
            write(body, context)
        case .whole(let file): write(.file(file), context)
        }
    }

    private func write(_ body: HitBody, _ context: ChannelHandlerContext) {
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
        // From here on the connection is the parser's, and it stays so where it cannot be seen when the parser is done.
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
        // Whoever closes the connection after one of these does not know of answers that are still on their way from here.
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
