import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import OnesheetCore
import Synchronization

/// One HTTP/2 connection: `SlowClients`, NIO's HTTP/2 handler, `FastPathFrameHandler`, and behind them NIO's multiplexer, which creates a
/// channel for each stream that the fast path does not answer.
///
/// NIO closes an idle or old connection gracefully (GOAWAY and a ping) and waits for the client's answer. `SlowClients` closes the
/// connection if no answer arrives. NIO's default settings apply (`nioDefaultSettings`): 100 streams, and 16 KiB of header fields per
/// request, as on HTTP/1.1.
struct MultiplexedConnection: Sendable {
    /// The maximum age of a connection. Abandoned streams would otherwise keep a connection from becoming idle.
    private static let maximumAge = Duration.seconds(600)

    private let stream: MultiplexedStream
    private let streams: AsyncStream<MultiplexedStream.Value>

    /// Sets up HTTP/2 on `channel`, whose inbound data are decrypted bytes.
    /// - Parameter streams: the places of streams that have a channel.
    static func begin(
        on channel: any Channel, _ services: ConnectionServices, streams: MemoryShare, logger: Logger
    ) -> EventLoopFuture<MultiplexedConnection> {
        channel.eventLoop.makeCompletedFuture {
            let clients = services.clients
            let idleTimeout = TimeAmount(clients.idleTimeout.duration)
            // Allow the same time again for the answer to GOAWAY.
            let closeTimeout = idleTimeout * 2
            let tooOld = channel.eventLoop.scheduleTask(in: TimeAmount(maximumAge) + closeTimeout) { channel.close(promise: nil) }
            channel.closeFuture.whenComplete { _ in tooOld.cancel() }

            let requests = RequestsUnderWay()
            let stream = MultiplexedStream(
                accessLog: services.accessLog, memory: services.connections.memory,
                timeouts: .init(request: TimeAmount(clients.requestTimeout.duration), idle: idleTimeout)
            ) { request, writer, channel in
                requests.begin()
                defer { requests.end() }
                try await services.answer(request, writer, on: channel)
            }
            let (values, opened) = AsyncStream.makeStream(of: MultiplexedStream.Value.self)
            channel.closeFuture.whenComplete { _ in opened.finish() }

            let frames = FastPathFrameHandler(
                services.fastPath?.part(on: channel.eventLoop), connections: services.connections, places: streams,
                accessLog: services.accessLog, idleTimeout: idleTimeout)
            let here = NIOLoopBound(frames, eventLoop: channel.eventLoop)
            let multiplexer = HTTP2StreamMultiplexer(
                mode: .server, channel: channel,
                inboundStreamInitializer: { channel in
                    here.value.handOver(to: channel)
                    return stream.setup(channel: channel, logger: logger).kept(whileOpen: channel).map { _ = opened.yield($0) }
                })
            let management = NIOHTTP2ServerConnectionManagementHandler(
                eventLoop: channel.eventLoop,
                configuration: .init(
                    maxIdleTime: idleTimeout, maxAge: TimeAmount(maximumAge), maxGraceTime: idleTimeout, keepalive: nil))
            let slow = SlowClients(ClientTimeouts(idleTimeout: closeTimeout, requestTimeout: closeTimeout)) {
                requests.isEmpty ? .idle : .answering
            }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(slow, position: .first)
            try pipeline.addHandlers(NIOHTTP2Handler(mode: .server), frames, ConnectionEnd(), multiplexer, management)
            // The channel has been active since before the handshake, and the handler's timers begin with this call.
            management.channelActive(context: try pipeline.context(handler: management))
            return MultiplexedConnection(stream: stream, streams: values)
        }
    }

    /// Answers the requests until the connection is closed, or the task is cancelled.
    func handle(_ logger: Logger) async {
        await withDiscardingTaskGroup { group in
            for await opened in streams {
                group.addTask { await stream.handle(value: opened, logger: logger) }
            }
        }
    }
}

/// Counts the requests of a connection that are being answered.
private final class RequestsUnderWay: Sendable {
    private let count = Atomic(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func begin() { count.add(1, ordering: .relaxed) }
    func end() { count.subtract(1, ordering: .relaxed) }
}

/// Closes the connection after an error, and after the client has closed its side: without its window updates no response can be
/// completed.
///
/// An error of one stream ends only that stream. NIO has reset it.
private final class ConnectionEnd: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        // The handlers behind tell the stream of its error.
        if !Self.concernsOneStream(error) { context.close(promise: nil) }
    }

    /// Whether NIO has reset the stream of `error` and the connection is well: malformed fields and lengths of a request (RFC 9113 §8.1.1).
    private static func concernsOneStream(_ error: any Error) -> Bool {
        switch error {
        case is NIOHTTP2Errors.StreamError, is NIOHTTP2Errors.ContentLengthViolated, is NIOHTTP2Errors.ContentLengthHeadersMismatch,
            is NIOHTTP2Errors.ContentLengthHeaderNegative, is NIOHTTP2Errors.ContentLengthHeaderMalformedValue,
            is NIOHTTP2Errors.ForbiddenHeaderField, is NIOHTTP2Errors.InvalidHTTP2HeaderFieldName,
            is NIOHTTP2Errors.MissingPseudoHeader, is NIOHTTP2Errors.DuplicatePseudoHeader,
            is NIOHTTP2Errors.PseudoHeaderAfterRegularHeader, is NIOHTTP2Errors.UnknownPseudoHeader,
            is NIOHTTP2Errors.UnsupportedPseudoHeader, is NIOHTTP2Errors.InvalidPseudoHeaders,
            is NIOHTTP2Errors.InvalidPseudoHeaderValue, is NIOHTTP2Errors.EmptyPathHeader,
            is NIOHTTP2Errors.TrailersWithoutEndStream:
            true
        default: false
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if let end = event as? ChannelEvent, end == .inputClosed { context.close(promise: nil) }
    }
}
