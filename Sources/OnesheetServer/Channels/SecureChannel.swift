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

    private let services: ConnectionServices
    private let certificate: Certificate
    private let streams: MemoryShare
    private let http1: ClientChannel
    private let turns = LoopLocal { ConnectionTurns(on: $0) }

    /// - Parameter streams: the places of HTTP/2 streams that the router answers.
    init(_ services: ConnectionServices, certificate: Certificate, streams: MemoryShare) {
        self.services = services
        self.certificate = certificate
        self.streams = streams
        http1 = ClientChannel(services: services)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let connections = services.connections
        let time = TimeAmount(services.clients.requestTimeout.duration)
        let tooSlow = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in tooSlow.cancel() }
        return channel.eventLoop.makeCompletedFuture {
            // Encrypted data that wait for the client are memory of this connection alone; the kernel's buffer holds more.
            let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: SmallFlushes.limit / 2, high: SmallFlushes.limit)
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: waterMark)
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Negotiated> { result in
                tooSlow.cancel()
                if case .negotiated("h2") = result {
                    return MultiplexedConnection.begin(on: channel, services, streams: streams, turns, logger: logger).map {
                        .http2($0)
                    }
                }
                return channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(SmallFlushes()) }
                    .flatMap { http1.setup(channel: channel, logger: logger) }.map { .http1($0) }
            }
            let operations = channel.pipeline.syncOperations
            let socket = EncryptedBytes(connections.memory)
            try operations.addHandlers(
                socket, NIOSSLServerHandler(context: certificate.context), PromptEnd(socket),
                negotiation)
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
