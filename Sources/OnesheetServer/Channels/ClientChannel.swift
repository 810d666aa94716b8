import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypesHTTP1
import OnesheetCore

/// An HTTP/1.1 connection: Hummingbird's channel with `SlowClients` and `FastPathHandler` before the parser and `HeadCheck` behind
/// it.
struct ClientChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    /// The maximum size of a request's header fields, in bytes. A larger request gets 400 and the connection is closed.
    private static let headLimit = 16 << 10

    /// The size of one read, in bytes.
    private static let received = AdaptiveRecvByteBufferAllocator(minimum: 1 << 10, initial: 2 << 10, maximum: 16 << 10)

    private let http1: HTTP1Channel
    private let fastPath: FastPath?
    private let clients: ClientsConfiguration
    private let connections: OpenConnections

    /// - Parameter fastPath: `nil` sends every request to the parser.
    init(
        fastPath: FastPath?, clients: ClientsConfiguration, connections: OpenConnections,
        responder: @escaping HTTPChannelHandler.Responder
    ) {
        let memory = connections.memory
        self.fastPath = fastPath
        self.clients = clients
        self.connections = connections
        http1 = HTTP1Channel(
            responder: { request, writer, channel in
                try await ClientRequest.answer(request, writer, on: channel, of: connections, with: responder)
            },
            configuration: .init(
                additionalChannelHandlers: [UnansweredRequests(), BodyWatch(memory, nil)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: Self.headLimit, maxHeaderListSize: Self.headLimit, maxHeaderFieldCount: 100)))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        do { try connections.add(channel) } catch { return channel.eventLoop.makeFailedFuture(error) }
        return configure(channel, logger)
    }

    /// Sets up HTTP/1.1 on `channel`, whose inbound data are bytes.
    func configure(_ channel: any Channel, _ logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let handler = FastPathHandler(fastPath?.part(on: channel.eventLoop), connections)
            let slow = SlowClients(
                idleTimeout: .init(clients.idleTimeout.duration), requestTimeout: .init(clients.requestTimeout.duration)
            ) { handler.phase }
            // Clients rarely pipeline, so a second `read` after the first would be a wasted system call.
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            // The parser decodes everything that was read, including pipelined requests, which takes many times their size in
            // memory. Small reads bound it.
            try channel.syncOptions?.setOption(.recvAllocator, value: Self.received)
            try channel.pipeline.syncOperations.addHandlers([slow, handler])
        }.flatMap {
            http1.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            let operations = channel.pipeline.syncOperations
            try operations.addHandler(HeadCheck(), position: .before(operations.handler(type: HTTP1ToHTTPServerCodec.self)))
            return value
        }.kept(whileOpen: channel)
    }

    func handle(value: Value, logger: Logger) async { await http1.handle(value: value, logger: logger) }
}
