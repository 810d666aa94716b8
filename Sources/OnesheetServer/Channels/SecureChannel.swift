import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import NIOTLS
import OnesheetCore

/// A TLS connection: HTTP/2 if the client selects it (ALPN, RFC 7301), or else HTTP/1.1.
struct SecureChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        fileprivate let negotiated: EventLoopFuture<Negotiated>
    }

    fileprivate enum Negotiated: Sendable {
        case http1(ClientChannel.Value)
        case http2(MultiplexedConnection)
    }

    private let certificate: Certificate
    private let fastPath: FastPath?
    private let clients: ClientsConfiguration
    private let connections: OpenConnections
    private let memory: TLSMemory
    private let streams: OpenStreams
    private let accessLog: AccessLog?
    private let http1: ClientChannel
    private let responder: HTTPChannelHandler.Responder

    init(
        certificate: Certificate, fastPath: FastPath?, clients: ClientsConfiguration, connections: OpenConnections,
        memory: TLSMemory, streams: OpenStreams, accessLog: AccessLog?, responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.certificate = certificate
        self.fastPath = fastPath
        self.clients = clients
        self.connections = connections
        self.memory = memory
        self.streams = streams
        self.accessLog = accessLog
        self.responder = responder
        http1 = ClientChannel(
            fastPath: fastPath, clients: clients, connections: connections, accessLog: accessLog, responder: responder)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        do { try connections.add(channel) } catch { return channel.eventLoop.makeFailedFuture(error) }
        guard let room = memory.admit() else {
            connections.count(.memory)
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(TooManyConnections())
        }
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(room) {} }
        let tooSlow = channel.eventLoop.scheduleTask(in: .init(clients.requestTimeout.duration)) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in tooSlow.cancel() }
        return channel.eventLoop.makeCompletedFuture {
            // Encrypted data that wait for the client are memory of this connection alone; the kernel's buffer holds more.
            let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: SmallFlushes.limit / 2, high: SmallFlushes.limit)
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: waterMark)
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Negotiated> { result in
                tooSlow.cancel()
                if case .negotiated("h2") = result {
                    return MultiplexedConnection.begin(
                        on: channel, fastPath: fastPath, clients: clients, connections: connections, streams: streams,
                        accessLog: accessLog, logger: logger, responder: responder
                    ).map { .http2($0) }
                }
                return http1.configure(channel, logger).map { .http1($0) }
            }
            let operations = channel.pipeline.syncOperations
            try operations.addHandlers(
                EncryptedBytes(connections.memory), NIOSSLServerHandler(context: certificate.context), SmallFlushes(), negotiation)
            return Value(channel: channel, negotiated: negotiation.protocolNegotiationResult)
        }
    }

    func handle(value: Value, logger: Logger) async {
        await value.channel.closedWhenCancelled {
            do {
                switch try await value.negotiated.get() {
                case .http1(let value): await http1.handle(value: value, logger: logger)
                case .http2(let connection): await connection.handle(logger)
                }
            } catch {
                logger.debug("the connection failed: \(error)")
            }
        }
    }
}
