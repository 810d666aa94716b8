import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import OnesheetCore

/// The handlers of an HTTP/2 connection: `SlowClients`, `SmallFlushes`, NIO's HTTP/2 handler, `FastStreams`, `ConnectionEnd`, NIO's
/// multiplexer, which creates a channel for each other stream, and NIO's handler for the end of idle and old connections. The first handler of
/// a stream is its `StreamEntrance`.
///
/// NIO ends a connection gracefully (GOAWAY and a ping, RFC 9113 §6.8) and waits for the client's answer. `SlowClients` closes the
/// connection if none arrives.
struct MultiplexedConnection: Sendable {
    /// The maximum age of a connection. Abandoned streams would otherwise keep a connection from becoming idle.
    private static let maximumAge = TimeAmount.seconds(600)

    private let stream: MultiplexedStream
    private let streams: AsyncStream<OpenedStream>

    /// Sets up HTTP/2 on `channel`, whose inbound data are decrypted bytes.
    /// - Parameters:
    ///   - streams: the places of streams that the router answers.
    ///   - turns: the connections of each event loop that wait for their turn.
    static func begin(
        on channel: any Channel, _ services: ConnectionServices, streams: MemoryShare, _ turns: LoopLocal<ConnectionTurns>,
        logger: Logger
    ) -> EventLoopFuture<MultiplexedConnection> {
        channel.eventLoop.makeCompletedFuture {
            guard let client = services.connections.client(of: channel) else { throw ChannelError.alreadyClosed }
            let (clients, loop) = (services.clients, channel.eventLoop)
            let idleTimeout = TimeAmount(clients.idleTimeout.duration)
            // Allow the same time again for the answer to GOAWAY.
            let closeTimeout = idleTimeout * 2
            let tooOld = loop.scheduleTask(in: maximumAge + closeTimeout) { channel.close(promise: nil) }

            try channel.syncOptions?.boundReads()
            let stream = MultiplexedStream(
                accessLog: services.accessLog, memory: services.connections.memory,
                timeouts: .init(request: TimeAmount(clients.requestTimeout.duration), idle: idleTimeout)
            ) { request, writer, channel, routed in
                try await services.answer(request, writer, of: client, on: channel, isStream: true, routed: routed)
            }
            let (values, opened) = AsyncStream.makeStream(of: OpenedStream.self)

            let requests = StreamRequests(
                from: channel.remoteAddress?.address, on: loop, services.fastPath?.part(on: loop),
                connections: services.connections, places: streams, accessLog: services.accessLog, turns: turns.value(on: loop))
            let here = NIOLoopBound(requests, eventLoop: loop)
            channel.closeFuture.whenComplete { _ in
                tooOld.cancel()
                opened.finish()
            }
            let management = NIOHTTP2ServerConnectionManagementHandler(
                eventLoop: loop,
                configuration: .init(maxIdleTime: idleTimeout, maxAge: maximumAge, maxGraceTime: idleTimeout, keepalive: nil))
            let end = ConnectionEnd(requests, idleTimeout: idleTimeout)
            let slow = SlowClients(ClientTimeouts(idleTimeout: closeTimeout, requestTimeout: closeTimeout)) {
                requests.open == 0 ? .idle : .answering
            }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(slow, position: .first)
            try pipeline.addHandlers(SmallFlushes(), ReadTurns(turns.value(on: loop)))
            let limits = NIOHTTP2Handler.Configuration.forClients
            let fast = FastStreams(requests, memory: services.connections.memory, idleTimeout: idleTimeout)
            let multiplexer = HTTP2StreamMultiplexer(mode: .server, channel: channel) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let routed = here.value.takeRouted()
                    let entrance = StreamEntrance(here.value) { channel in
                        stream.setup(channel: channel, logger: logger).kept(whileOpen: channel)
                            .map { _ = opened.yield(OpenedStream(value: $0, routed: routed)) }
                            .whenFailure { _ in channel.close(promise: nil) }
                    }
                    try channel.pipeline.syncOperations.addHandler(entrance)
                }
            }
            try pipeline.addHandler(
                NIOHTTP2Handler(
                    mode: .server, frameDelegate: end, connectionConfiguration: limits.connection,
                    streamConfiguration: limits.stream))
            // A flush behind the multiplexer would wait for the end of a read, and so `end` is before it.
            try pipeline.addHandlers(fast, end, multiplexer, OpenStreams(), management)
            // The channel has been active since before the handshake, and the handler's timers begin with this call.
            management.channelActive(context: try pipeline.context(handler: management))
            client.noteReady()
            return MultiplexedConnection(stream: stream, streams: values)
        }
    }

    /// Answers the requests until the connection is closed, or the task is cancelled.
    func handle(_ logger: Logger) async {
        await withDiscardingTaskGroup { group in
            for await opened in streams {
                group.addTask { await stream.handle(opened, logger: logger) }
            }
        }
    }
}

extension NIOHTTP2Handler.Configuration {
    /// What a client may send. NIO ends a connection that sends more: with PROTOCOL_ERROR for streams, COMPRESSION_ERROR for fields, and
    /// ENHANCE_YOUR_CALM for all else (docs/security.md).
    fileprivate static let forClients = {
        let (most, period) = (200, TimeAmount.seconds(30))
        var limits = Self()
        limits.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: 100),
            // As on HTTP/1.1.
            HTTP2Setting(parameter: .maxHeaderListSize, value: 16 << 10),
        ]
        // `RequestFields` checks requests, and those of responses are our own.
        limits.connection.headerBlockValidation = .disabled
        // Resets of streams (CVE-2023-44487), errors of streams in a period and altogether, and PING, SETTINGS and PRIORITY.
        limits.stream.streamResetFrameRateLimit.maximumCount = most
        limits.stream.streamResetFrameRateLimit.windowLength = period
        limits.stream.streamErrorRateLimit.maximumCount = most
        limits.stream.streamErrorRateLimit.windowLength = period
        limits.connection.controlFrameRateLimit.maximumCount = most
        limits.connection.controlFrameRateLimit.windowLength = period
        limits.connection.maximumConnectionGlitches = most
        // Answers that wait for a client that reads nothing.
        limits.connection.maximumBufferedControlFrames = 1000
        // In a row: heads without an end (CVE-2024-27316), and parts of bodies without a byte.
        limits.connection.maximumSequentialContinuationFrames = 5
        limits.connection.maximumSequentialEmptyDataFrames = 1
        // Streams that the server has reset, and that the client may not know of yet.
        limits.connection.maximumRecentlyResetStreams = 100
        return limits
    }()
}
