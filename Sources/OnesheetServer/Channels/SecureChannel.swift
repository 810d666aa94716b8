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
    private let places: MemoryShare
    private let streams: MemoryShare
    private let http1: ClientChannel

    /// - Parameters:
    ///   - places: the places of connections.
    ///   - streams: the places of HTTP/2 streams that have a channel.
    init(_ services: ConnectionServices, certificate: Certificate, places: MemoryShare, streams: MemoryShare) {
        self.services = services
        self.certificate = certificate
        self.places = places
        self.streams = streams
        http1 = ClientChannel(services)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let connections = services.connections
        do {
            try connections.add(channel, isHandshaking: true)
        } catch {
            refuse(channel)
            return channel.eventLoop.makeFailedFuture(error)
        }
        guard let place = places.admit(connections.identity.owner(ofConnectionFrom: channel.remoteAddress?.address)) else {
            connections.count(.memory)
            refuse(channel)
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(TooManyConnections())
        }
        let time = TimeAmount(services.clients.requestTimeout.duration)
        let tooSlow = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in tooSlow.cancel() }
        return channel.eventLoop.makeCompletedFuture {
            // Encrypted data that wait for the client are memory of this connection alone; the kernel's buffer holds more.
            let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: SmallFlushes.limit / 2, high: SmallFlushes.limit)
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: waterMark)
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Negotiated> { result in
                tooSlow.cancel()
                connections.client(of: channel)?.endHandshake()
                if case .negotiated("h2") = result {
                    return MultiplexedConnection.begin(on: channel, services, streams: streams, logger: logger).map {
                        .http2($0)
                    }
                }
                return channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(SmallFlushes()) }
                    .flatMap { http1.configure(channel, logger) }.map { .http1($0) }
            }
            let operations = channel.pipeline.syncOperations
            let socket = EncryptedBytes(connections.memory)
            try operations.addHandlers(
                UntilClosed(place), socket, NIOSSLServerHandler(context: certificate.context), PromptEnd(socket),
                negotiation)
            return Value(channel: channel, negotiated: negotiation.protocolNegotiationResult)
        }
    }

    /// Counts the connection as refused until it is closed. If it is closed already, it does not count.
    private func refuse(_ channel: any Channel) {
        try? channel.pipeline.syncOperations.addHandler(UntilClosed(places.refuse()))
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

/// Holds the place or the refusal of a connection, and releases it before the connection counts as closed.
///
/// NIO removes handlers before it completes `closeFuture`. Then `AcceptLimit` lets the next connection in. If a callback of `closeFuture`
/// released the place, the next connection could come first and be refused.
private final class UntilClosed<Held>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var held: Held?

    init(_ held: Held) { self.held = held }

    func handlerRemoved(context: ChannelHandlerContext) { held = nil }
}
