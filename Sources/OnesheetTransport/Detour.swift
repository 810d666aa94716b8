import NIOCore
import NIOExtras
import NIOHTTP1
import NIOSOCKS
import OnesheetCore

/// The way to an origin through a proxy.
struct Detour: Sendable {
    let proxy: OriginProxy
    let host: OriginHost
    /// The origin as the proxy gets it: a name that the proxy looks up, or a checked address.
    let target: String

    /// Whether the proxy is asked for a connection to the origin. Otherwise it gets the request itself.
    private var hasTunnel: Bool { proxy.scheme == .socks5 || host.scheme == "https" }

    /// With the brackets of an IPv6 address.
    private var name: String { target.contains(":") ? "[\(target)]" : target }
    private var authority: String { "\(name):\(host.port)" }

    /// The request as it is sent on the connection.
    func order(_ order: OriginOrder) -> OriginOrder {
        guard !hasTunnel else { return order }
        var order = order
        // RFC 9112 §3.2.2. The path begins with a slash.
        order.head.uri = "http://\(authority)\(order.head.uri)"
        if let authorization = proxy.authorization {
            order.head.headers.replaceOrAdd(name: "Proxy-Authorization", value: authorization)
        }
        return order
    }

    /// The response of the origin.
    /// - Throws: if it is one of the proxy (RFC 9110 §15.5.8).
    func checked(_ reply: OriginReply) throws(ExchangeFailure) -> OriginReply {
        guard !hasTunnel, reply.status == 407 else { return reply }
        throw ExchangeFailure(.proxy("the proxy \(proxy) asks for a user and a password"), .connecting)
    }

    /// Lets the proxy lead a new connection to the origin, and adds the handlers for that.
    func open(_ channel: any Channel, until deadline: NIODeadline, then handlers: OriginHandlers) async throws {
        do {
            try await channel.eventLoop.flatSubmit { begin(channel, until: deadline).flatMap { handlers.add(to: channel) } }.get()
        } catch {
            channel.close(promise: nil)
            throw error
        }
    }

    private func begin(_ channel: any Channel, until deadline: NIODeadline) -> EventLoopFuture<Void> {
        guard hasTunnel else { return channel.eventLoop.makeSucceededVoidFuture() }
        let promise = channel.eventLoop.makePromise(of: Void.self)
        let pipeline = channel.pipeline.syncOperations
        do {
            let end = Handshake(promise, until: deadline)
            switch proxy.scheme {
            case .http:
                let (encoder, decoder) = (HTTPRequestEncoder(), ByteToMessageHandler(HTTPResponseDecoder()))
                var fields = HTTPHeaders([("Host", authority)])
                if let authorization = proxy.authorization { fields.add(name: "Proxy-Authorization", value: authorization) }
                let connect = NIOHTTP1ProxyConnectHandler(
                    targetHost: name, targetPort: host.port, headers: fields, deadline: deadline, promise: promise)
                // A handler asks when it is added, so those that hear the answer come first.
                try pipeline.addHandler(end)
                for handler in [encoder, decoder, connect] as [any ChannelHandler] {
                    try pipeline.addHandler(handler, position: .before(end))
                }
                return promise.futureResult.assumeIsolated().flatMap {
                    pipeline.removeHandler(decoder).and(pipeline.removeHandler(encoder)).and(pipeline.removeHandler(end)).map { _ in
                    }
                }.nonisolated()
            case .socks5:
                let address = try IPAddress(target).map {
                    try SOCKSAddress.address(SocketAddress(packedIPAddress: ByteBuffer(bytes: $0.bytes), port: host.port))
                }
                let socks = SOCKSClientHandler(targetAddress: address ?? .domain(target, port: host.port))
                try pipeline.addHandler(end)
                try pipeline.addHandler(socks, position: .before(end))
                return promise.futureResult.assumeIsolated().flatMap {
                    pipeline.removeHandler(socks).and(pipeline.removeHandler(end)).map { _ in }
                }.nonisolated()
            }
        } catch {
            promise.fail(error)
            return promise.futureResult
        }
    }

    /// The failure to reach the origin, for which only the proxy can be blamed.
    func failure(_ error: any Error) -> ExchangeFailure {
        let reason =
            switch error {
            case ChannelError.connectTimeout, is Handshake.TimedOut: "does not answer in time"
            case let error as NIOHTTP1ProxyConnectHandler.Error: Self.reason(error)
            case is SOCKSError.NoValidAuthenticationMethod:
                "asks for a user and a password, which this server has none of for SOCKS"
            case is SOCKSError.ConnectionFailed: "cannot reach the host, or may not"
            default: "fails: \(ConnectionReason.text(error))"
            }
        return ExchangeFailure(.proxy("the proxy \(proxy) \(reason)"), .connecting)
    }

    private static func reason(_ error: NIOHTTP1ProxyConnectHandler.Error) -> String {
        if error == .proxyAuthenticationRequired() { return "asks for a user and a password" }
        if error == .httpProxyHandshakeTimeout() { return "does not answer in time" }
        let isClosed = error == .remoteConnectionClosed() || error == .channelUnexpectedlyInactive()
        return isClosed ? "closes the connection" : "cannot reach the host, or may not"
    }
}

/// Hears how a proxy answers, and ends a connection whose proxy does not.
private final class Handshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Never

    struct TimedOut: Error {}

    private let promise: EventLoopPromise<Void>
    private let deadline: NIODeadline
    private var alarm: Scheduled<Void>?

    init(_ promise: EventLoopPromise<Void>, until deadline: NIODeadline) {
        self.promise = promise
        self.deadline = deadline
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        alarm = context.eventLoop.scheduleTask(deadline: deadline) {
            let (handler, context) = bound.value
            handler.end(context, TimedOut())
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.cancel()
        // Without effect if the proxy has answered.
        promise.fail(ChannelError.eof)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is SOCKSProxyEstablishedEvent { promise.succeed(()) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(context, error) }

    func channelInactive(context: ChannelHandlerContext) { end(context, ChannelError.eof) }

    private func end(_ context: ChannelHandlerContext, _ error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }
}
