import NIOCore
import NIOHPACK
import NIOHTTP2
import OnesheetCore

/// One HTTP/2 connection (RFC 9113), between its encryption and NIO's multiplexer.
///
/// It answers simple requests for cached images itself: the fast path. A stream with a channel costs several times as much as such a
/// response. Other requests get a channel, if there is room for one, and continue to the router with the parsed target.
///
/// `ClientStreams` knows which streams are open and what the client may send on them, `FrameSender` what waits for the client, and
/// `UnsentResponses` which of that has no channel that counts and times it.
///
/// A request waits for the next frame, or for the end of the read, before it is looked at: a stream that the client resets at once
/// (CVE-2023-44487) costs no more than its frames.
final class HTTP2Connection: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = ByteBuffer

    private let requests: StreamRequests
    private let turns: ConnectionTurns
    private let unsent: UnsentResponses
    private var ending: ConnectionEnding
    private var input = FrameInput()
    private var decoder: HPACKDecoder
    private var flood = FrameFlood()
    /// `nil` before the handler is added and after it is removed.
    private var sender: FrameSender?
    /// The request that has just been received.
    private var received: StreamRequest?
    private var streams = ClientStreams()

    /// - Parameters:
    ///   - turns: the connections of the event loop that wait for their turn.
    ///   - memory: counts the responses that the client does not take.
    ///   - idleTimeout: how long a client may take nothing of a response, and how long a connection may have no streams.
    ///   - maximumAge: how long a connection gets new streams.
    init(
        _ requests: StreamRequests, _ turns: ConnectionTurns, memory: ResponseMemory, idleTimeout: TimeAmount,
        maximumAge: TimeAmount
    ) {
        self.requests = requests
        self.turns = turns
        unsent = UnsentResponses(memory, idleTimeout: idleTimeout)
        ending = ConnectionEnding(idleTimeout: idleTimeout, maximumAge: maximumAge)
        decoder = HPACKDecoder(
            allocator: ByteBufferAllocator(), maxDynamicTableSize: HPACKDecoder.maxDynamicTableSize,
            maxHeaderListSize: RequestFields.longest)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let here = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let sender = FrameSender(context) { stream, isLast in
            let (connection, context) = here.value
            connection.sent(on: stream, isLast: isLast, context)
        }
        self.sender = sender
        unsent.begin(on: context.eventLoop, for: requests.owner) { stream in
            let (connection, context) = here.value
            connection.reset(stream, with: .cancel, context)
            connection.sender?.flush()
        }
        sender.send {
            $0.writeSettings([
                (FrameSetting.mostStreams, UInt32(ClientStreams.most)), (FrameSetting.longestFields, UInt32(RequestFields.longest)),
            ])
        }
        sender.flush()
        ending.begin(on: context.eventLoop) {
            let (connection, context) = here.value
            connection.leave(context)
        } isIdle: {
            here.value.0.isIdle
        }
    }

    /// Whether there is no request, and none that waits for its turn.
    private var isIdle: Bool { streams.isEmpty && received == nil && !input.isWaiting }

    func handlerRemoved(context: ChannelHandlerContext) { release() }

    func channelInactive(context: ChannelHandlerContext) {
        release()
        context.fireChannelInactive()
    }

    private func release() {
        if let received { requests.drop(received) }
        received = nil
        streams = ClientStreams()
        input.drop()
        unsent.end()
        ending.end()
        sender?.closeAll()
        sender = nil
    }

    // MARK: Frames of the client

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard sender != nil else { return }
        do throws(ConnectionFailure) { try input.append(unwrapInboundIn(data)) } catch { return abort(error.code, context) }
        receiveFrames(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) { endRead(context) }

    /// The multiplexer reads while it gets a frame, and would read on before the connection's next turn.
    func read(context: ChannelHandlerContext) {
        if sender == nil || !input.holdRead() { context.read() }
    }

    private func receiveFrames(_ context: ChannelHandlerContext) {
        // An error of the socket reads the rest within a write. The loop below takes it in its order.
        guard input.begin() else { return }
        do throws(ConnectionFailure) {
            while sender != nil, let frame = try input.next() { try receive(frame, context) }
        } catch {
            abort(error.code, context)
        }
        input.end()
        if input.releaseRead() { context.read() }
        if input.isWaiting { waitForTurn(context) }
    }

    /// Handles the last request of a read, which nothing follows that could take it back. The multiplexer hands its frames over now.
    private func endRead(_ context: ChannelHandlerContext) {
        if let received, !input.isWaiting {
            self.received = nil
            process(received, context)
        }
        context.fireChannelReadComplete()
        sender?.flush()
    }

    /// Lets the other connections of the event loop go first.
    private func waitForTurn(_ context: ChannelHandlerContext) {
        let here = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        turns.wait {
            let (connection, context) = here.value
            connection.input.resume()
            // A connection that has ended meanwhile still reads the client's goodbye.
            connection.receiveFrames(context)
            guard connection.sender != nil else { return false }
            connection.endRead(context)
            return true
        }
    }

    private func receive(_ frame: ClientFrame, _ context: ChannelHandlerContext) throws(ConnectionFailure) {
        if let received {
            self.received = nil
            if case .reset(received.stream, _) = frame {
                requests.drop(received)
                return try flood.count(.resets)
            }
            process(received, context)
        }
        switch frame {
        case .fields(let block, let stream, let isLast): try receive(block, on: stream, isLast: isLast, context)
        case .data(let bytes, let stream, let length, let isLast):
            try receive(bytes, length: length, on: stream, isLast: isLast, context)
        case .reset(let stream, let code):
            try streams.check(stream)
            // Of a stream that has ended, it takes nothing back.
            if streams[stream] != nil { try flood.count(.resets) }
            if streams[stream]?.hasChannel ?? false { pass(.rstStream(code), on: stream, context) }
            remove(stream, with: code, context)
        case .settings(let settings):
            try flood.count(.questions)
            if let window = try ClientSettings(settings).firstWindow, let sender, !sender.setFirstWindow(window) {
                throw ConnectionFailure(code: .flowControlError)
            }
            sender?.send { $0.writeSettingsAnswer() }
        case .ping(let number):
            try flood.count(.questions)
            sender?.send { $0.writePing(number, isAnswer: true) }
        case .pingAnswer(let number):
            guard ending.confirm(number, after: streams.newest) else { return try flood.count(.questions) }
            sender?.send { $0.writeGoAway(last: streams.newest, .noError) }
            closeIfDone(context)
        case .windowUpdate(.rootStream, let increment):
            input.addCost(1)
            guard sender?.widen(by: increment) ?? true else { throw ConnectionFailure(code: .flowControlError) }
        case .windowUpdate(let stream, let increment):
            input.addCost(1)
            try streams.check(stream)
            if let sender, !sender.widen(stream, by: increment) { try reject(stream, with: .flowControlError, context) }
        case .ignored: break
        }
    }

    /// The fields of a request, or its trailers.
    private func receive(
        _ block: ByteBuffer, on stream: HTTP2StreamID, isLast: Bool, _ context: ChannelHandlerContext
    ) throws(ConnectionFailure) {
        var block = block
        let fields: HPACKHeaders
        do { fields = try decoder.decodeHeaders(from: &block) } catch { throw ConnectionFailure(code: .compressionError) }
        input.addCost(FrameInput.cost(ofFields: fields))
        if let open = streams[stream] {
            guard !open.clientHasEnded else { throw ConnectionFailure(code: .streamClosed) }
            guard isLast, open.rest ?? 0 == 0, RequestFields(trailers: fields) != nil else {
                return try reject(stream, with: .protocolError, context)
            }
            pass(.headers(.init(headers: fields, endStream: true)), on: stream, context)
            return endOfClient(on: stream, context)
        }
        guard try streams.begin(stream) else { return try flood.count(.errors) }
        // Those are not answered, and the client knows it (RFC 9113 §6.8).
        if ending.isAfterLast(stream) {
            input.addCost(1)
            return streams.noteReset(stream)
        }
        guard let head = RequestFields(head: fields), !isLast || head.contentLength ?? 0 == 0 else {
            return try reject(stream, with: .protocolError, context)
        }
        guard !streams.isFull else { return try reject(stream, with: .refusedStream, context) }
        received = StreamRequest(stream: stream, fields: fields, isLast: isLast, contentLength: head.contentLength)
    }

    /// A part of a request's body.
    private func receive(
        _ bytes: ByteBuffer, length: Int, on stream: HTTP2StreamID, isLast: Bool, _ context: ChannelHandlerContext
    ) throws(ConnectionFailure) {
        input.addCost(1)
        if bytes.readableBytes <= FrameFlood.crumb, !isLast { try flood.count(.crumbs) }
        let part = try streams.receive(bytes.readableBytes, length: length, on: stream, isLast: isLast)
        if let increment = streams.allowMore() { sender?.send { $0.writeWindowUpdate(.rootStream, by: increment) } }
        switch part {
        case .ignored: break
        case .refused(let code): try reject(stream, with: code, context)
        case .accepted(let window):
            pass(.data(.init(data: .byteBuffer(bytes), endStream: isLast)), on: stream, context)
            tell(window, of: stream, context)
            if isLast { endOfClient(on: stream, context) }
        }
    }

    /// Answers a request, or lets the multiplexer create a channel for it.
    private func process(_ request: StreamRequest, _ context: ChannelHandlerContext) {
        let stream = request.stream
        // An error of the socket can end the connection while an earlier response is written.
        guard let sender else { return requests.drop(request) }
        ending.noteUse()
        switch requests.answer(request, isTaking: context.channel.isWritable && unsent.hasRoom) {
        case .atOnce(let response):
            let body = response.body
            input.addCost(1 + (body?.readableBytes ?? 0) >> 14)
            if sender.respond(response.head.block, body, on: stream) { return }
            streams.add(.init(hasChannel: false, clientHasEnded: true), stream)
            if let body { unsent.add(body, on: stream) }
        case .inChannel:
            input.addCost(FrameInput.costOfChannel)
            sender.open(stream)
            streams.add(
                .init(hasChannel: true, clientHasEnded: request.isLast, contentLength: request.contentLength), stream)
            pass(.headers(.init(headers: request.fields, endStream: request.isLast)), on: stream, context)
            // The multiplexer has created the channel by now; this event activates it.
            let window = UInt32(ClientStreams.firstWindow)
            context.fireUserInboundEventTriggered(
                NIOHTTP2StreamCreatedEvent(streamID: stream, localInitialWindowSize: window, remoteInitialWindowSize: window))
        case .refused:
            input.addCost(1)
            reset(stream, with: .refusedStream, context)
        }
    }

    // MARK: Frames of the streams' channels

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let frame = unwrapOutboundIn(data)
        let stream = frame.streamID
        guard let sender, streams[stream] != nil else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch frame.payload {
        case .headers(let head):
            sender.write(fields: HPACKFieldEncoder.block(head.headers), on: stream, isLast: head.endStream, promise)
        case .data(let part):
            guard case .byteBuffer(let bytes) = part.data else {
                promise?.fail(ChannelError.operationUnsupported)
                return
            }
            sender.write(body: bytes, on: stream, isLast: part.endStream, promise)
        case .rstStream(let code):
            reset(stream, with: code, context)
            promise?.succeed()
        case .windowUpdate(let increment):
            sender.send { $0.writeWindowUpdate(stream, by: increment) }
            promise?.succeed()
            if let window = streams.allowMore(stream, increment) { tell(window, of: stream, context) }
        default: promise?.fail(ChannelError.operationUnsupported)
        }
    }

    func flush(context: ChannelHandlerContext) { sender?.flush() }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            sender?.sendWaiting()
            sender?.flush()
        }
        context.fireChannelWritabilityChanged()
    }

    private func pass(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        context.fireChannelRead(wrapInboundOut(HTTP2Frame(streamID: stream, payload: payload)))
    }

    /// Tells the stream's channel how much the client may send. The channel then widens the window in time.
    private func tell(_ window: Int, of stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        context.fireUserInboundEventTriggered(
            NIOHTTP2WindowUpdatedEvent(streamID: stream, inboundWindowSize: window, outboundWindowSize: nil))
    }

    // MARK: The end of a stream

    private func sent(on stream: HTTP2StreamID, isLast: Bool, _ context: ChannelHandlerContext) {
        guard isLast else { return unsent.progress(of: stream) }
        if streams.endOfServer(stream) { remove(stream, with: nil, context) }
    }

    private func endOfClient(on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        if streams.endOfClient(stream) { remove(stream, with: nil, context) }
    }

    /// Resets a stream because of an error of the client.
    private func reject(
        _ stream: HTTP2StreamID, with code: HTTP2ErrorCode, _ context: ChannelHandlerContext
    ) throws(ConnectionFailure) {
        try flood.count(.errors)
        reset(stream, with: code, context)
    }

    /// Resets a stream.
    private func reset(_ stream: HTTP2StreamID, with code: HTTP2ErrorCode, _ context: ChannelHandlerContext) {
        sender?.send { $0.writeReset(stream, code) }
        streams.noteReset(stream)
        remove(stream, with: code, context)
    }

    /// Forgets a stream that has ended.
    private func remove(_ stream: HTTP2StreamID, with code: HTTP2ErrorCode?, _ context: ChannelHandlerContext) {
        unsent.remove(stream)
        sender?.close(stream)
        guard let closed = streams.remove(stream) else { return }
        ending.noteUse()
        if closed.hasChannel {
            context.fireUserInboundEventTriggered(StreamClosedEvent(streamID: stream, reason: code))
        }
        closeIfDone(context)
    }

    // MARK: The end of the connection

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        // The streams' channels do not get it: they would end with the responses that wait here.
        case is ChannelShouldQuiesceEvent: return leave(context)
        // Without the client's window updates no response can be completed.
        case let event as ChannelEvent where event == .inputClosed:
            input.drop()
            context.close(promise: nil)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    /// Begins to end the connection: the client learns that it should open no more streams. Those that it has opened until its answer are
    /// still answered (RFC 9113 §6.8).
    private func leave(_ context: ChannelHandlerContext) {
        guard let sender, let number = ending.leave(isIdle: { self.isIdle }, { context.close(promise: nil) }) else {
            return
        }
        sender.send {
            $0.writeGoAway(last: .maxID, .noError)
            $0.writePing(number, isAnswer: false)
        }
        sender.flush()
    }

    private func closeIfDone(_ context: ChannelHandlerContext) {
        guard ending.isLast, streams.isEmpty, received == nil, let sender else { return }
        release()
        sender.close(within: ending.idleTimeout)
    }

    /// Ends the connection because of an error of the client, whose goodbye TLS still waits for. What waits for the client is dropped.
    private func abort(_ code: HTTP2ErrorCode, _ context: ChannelHandlerContext) {
        sender?.send { $0.writeGoAway(last: streams.newest, code) }
        sender?.flush()
        release()
        context.close(promise: nil)
    }
}
