import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import OnesheetCore
import Synchronization

/// The handlers of an HTTP/2 connection: `SlowClients`, `HTTP2Connection`, and behind it NIO's multiplexer, which creates a channel for each
/// stream that the fast path does not answer.
///
/// `HTTP2Connection` ends an idle or old connection gracefully. `SlowClients` closes a connection that does nothing at all.
struct MultiplexedConnection: Sendable {
    /// The maximum age of a connection. Abandoned streams would otherwise keep a connection from becoming idle.
    private static let maximumAge = Duration.seconds(600)

    private let stream: MultiplexedStream
    private let streams: AsyncStream<OpenedStream>

    /// Sets up HTTP/2 on `channel`, whose inbound data are decrypted bytes.
    /// - Parameters:
    ///   - streams: the places of streams that have a channel.
    ///   - turns: the connections of each event loop that wait for their turn.
    static func begin(
        on channel: any Channel, _ services: ConnectionServices, streams: MemoryShare, _ turns: LoopLocal<ConnectionTurns>,
        logger: Logger
    ) -> EventLoopFuture<MultiplexedConnection> {
        channel.eventLoop.makeCompletedFuture {
            guard let client = services.connections.client(of: channel) else { throw ChannelError.alreadyClosed }
            let clients = services.clients
            let idleTimeout = TimeAmount(clients.idleTimeout.duration)
            // Allow the same time again for the answer to GOAWAY.
            let closeTimeout = idleTimeout * 2
            let tooOld = channel.eventLoop.scheduleTask(in: TimeAmount(maximumAge) + closeTimeout) { channel.close(promise: nil) }
            channel.closeFuture.whenComplete { _ in tooOld.cancel() }

            try channel.syncOptions?.boundReads()
            let requests = RequestsUnderWay()
            let stream = MultiplexedStream(
                accessLog: services.accessLog, memory: services.connections.memory,
                timeouts: .init(request: TimeAmount(clients.requestTimeout.duration), idle: idleTimeout)
            ) { request, writer, channel, routed in
                requests.begin()
                defer { requests.end() }
                try await services.answer(request, writer, of: client, on: channel, isStream: true, routed: routed)
            }
            let (values, opened) = AsyncStream.makeStream(of: OpenedStream.self)
            channel.closeFuture.whenComplete { _ in opened.finish() }

            let entrance = StreamRequests(
                from: channel.remoteAddress?.address, services.fastPath?.part(on: channel.eventLoop),
                connections: services.connections, places: streams, accessLog: services.accessLog)
            let connection = HTTP2Connection(
                entrance, turns.value(on: channel.eventLoop), memory: services.connections.memory, idleTimeout: idleTimeout,
                maximumAge: TimeAmount(maximumAge))
            let here = NIOLoopBound(entrance, eventLoop: channel.eventLoop)
            let multiplexer = HTTP2StreamMultiplexer(
                mode: .server, channel: channel,
                inboundStreamInitializer: { channel in
                    let routed = here.value.open(channel)
                    return stream.setup(channel: channel, logger: logger).kept(whileOpen: channel).map {
                        _ = opened.yield(OpenedStream(value: $0, routed: routed))
                    }
                })
            let slow = SlowClients(ClientTimeouts(idleTimeout: closeTimeout, requestTimeout: closeTimeout)) {
                requests.isEmpty ? .idle : .answering
            }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(slow, position: .first)
            try pipeline.addHandlers(connection, multiplexer)
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

/// Counts the requests of a connection that are being answered.
private final class RequestsUnderWay: Sendable {
    private let count = Atomic(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func begin() { count.add(1, ordering: .relaxed) }
    func end() { count.subtract(1, ordering: .relaxed) }
}
