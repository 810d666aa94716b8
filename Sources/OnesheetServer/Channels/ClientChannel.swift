import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypesHTTP1
import OnesheetCore

/// Hummingbird's HTTP/1.1 connections with `SlowClients` and `FastPathHandler` before the parser, and `HeadCheck` behind it.
struct ClientChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    /// Bytes that the fields of a request may have; what is more is answered with 400 and the end of the connection.
    private static let headLimit = 16 << 10

    /// Bytes that are read at once.
    private static let received = AdaptiveRecvByteBufferAllocator(minimum: 1 << 10, initial: 2 << 10, maximum: 16 << 10)

    private let connections: HTTP1Channel
    private let fastPath: FastPath?
    private let clients: ClientsConfiguration
    private let open: OpenConnections

    /// - Parameter fastPath: without it every request goes to the parser.
    init(
        _ fastPath: FastPath?, _ clients: ClientsConfiguration, _ open: OpenConnections,
        responder: @escaping HTTPChannelHandler.Responder
    ) {
        let memory = open.memory
        self.fastPath = fastPath
        self.clients = clients
        self.open = open
        connections = HTTP1Channel(
            responder: { request, writer, channel in
                try await ClientRequest.answer(request, writer, on: channel, of: open, with: responder)
            },
            configuration: .init(
                additionalChannelHandlers: [UnansweredRequests(), BodyWatch(memory, nil)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: Self.headLimit, maxHeaderListSize: Self.headLimit, maxHeaderFieldCount: 100)))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        do { try open.add(channel) } catch { return channel.eventLoop.makeFailedFuture(error) }
        return configure(channel, logger)
    }

    /// Makes `channel`, from which requests come as bytes, one of HTTP/1.1.
    func configure(_ channel: any Channel, _ logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let hits = FastPathHandler(fastPath?.part(on: channel.eventLoop), open)
            let slow = SlowClients(
                idleTimeout: .init(clients.idleTimeout.duration), requestTimeout: .init(clients.requestTimeout.duration)
            ) { hits.phase }
            // Most clients wait for an answer before they send more: to look for more at once is a system call in vain.
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            // The parser takes apart all that was read, also the requests whose turn comes later: many times their bytes.
            try channel.syncOptions?.setOption(.recvAllocator, value: Self.received)
            try channel.pipeline.syncOperations.addHandlers([slow, hits])
        }.flatMap {
            connections.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            let operations = channel.pipeline.syncOperations
            try operations.addHandler(HeadCheck(), position: .before(operations.handler(type: HTTP1ToHTTPServerCodec.self)))
            return value
        }
    }

    func handle(value: Value, logger: Logger) async { await connections.handle(value: value, logger: logger) }
}
