import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypesHTTP1
import OnesheetCore
import Synchronization

/// Hummingbird's HTTP/1.1 connections with `SlowClients` and `HitHandler` before the parser, and `HostCheck` behind it.
struct ClientChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    private let connections: HTTP1Channel
    private let prepared: HitsByLoop?
    private let clients: ClientsConfiguration
    private let figures: ServerFigures

    /// - Parameter prepared: without it every request goes to the parser.
    init(
        _ prepared: HitsByLoop?, _ clients: ClientsConfiguration, _ figures: ServerFigures,
        responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.prepared = prepared
        self.clients = clients
        self.figures = figures
        connections = HTTP1Channel(
            responder: responder, configuration: .init(additionalChannelHandlers: [UnansweredRequests()]))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        figures.connectionOpened()
        channel.closeFuture.whenComplete { [figures] _ in figures.connectionClosed() }
        return channel.eventLoop.makeCompletedFuture {
            let hits = HitHandler(prepared?.hits(on: channel.eventLoop))
            let slow = SlowClients(
                idleTimeout: .init(clients.idleTimeout.duration), requestTimeout: .init(clients.requestTimeout.duration)
            ) { hits.phase }
            // Most clients wait for an answer before they send more: to look for more at once is a system call in vain.
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            try channel.pipeline.syncOperations.addHandlers([slow, hits])
        }.flatMap {
            connections.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            let operations = channel.pipeline.syncOperations
            try operations.addHandler(HostCheck(), position: .before(operations.handler(type: HTTP1ToHTTPServerCodec.self)))
            return value
        }
    }

    func handle(value: Value, logger: Logger) async { await connections.handle(value: value, logger: logger) }
}

/// The prepared hits of each event loop, so that none waits for another.
final class HitsByLoop: Sendable {
    private let make: @Sendable () -> PreparedHits
    private let loops = Mutex<[ObjectIdentifier: NIOLoopBound<PreparedHits>]>([:])

    init(_ make: @escaping @Sendable () -> PreparedHits) { self.make = make }

    /// - Parameter loop: the one that the caller is on.
    func hits(on loop: any EventLoop) -> PreparedHits {
        loops.withLock { loops in
            if let hits = loops[ObjectIdentifier(loop)] { return hits.value }
            let hits = NIOLoopBound(make(), eventLoop: loop)
            loops[ObjectIdentifier(loop)] = hits
            return hits.value
        }
    }
}
