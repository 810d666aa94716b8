import NIOCore
import NIOPosix
import NIOSSL
import OnesheetCore

/// A connection to one engine. Commands of many callers are sent without waiting for the replies of others.
final class ValkeyConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<ReplyHandler>

    private init(_ channel: any Channel, _ handler: NIOLoopBound<ReplyHandler>) {
        self.channel = channel
        self.handler = handler
    }

    var isOpen: Bool { channel.isActive }

    /// Fulfilled when the connection has ended.
    var closed: EventLoopFuture<Void> { channel.closeFuture }

    /// Connects, encrypts, gives the password, and waits for the first answer, all within `settings.connecting`.
    /// - Returns: the connection; fails only with a `LinkFailure`.
    static func open(to address: ValkeyAddress, _ settings: ConnectionSettings) -> EventLoopFuture<ValkeyConnection> {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let end = NIODeadline.now() + settings.connecting
        return ClientBootstrap(group: loop)
            .connectTimeout(settings.connecting)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls = settings.tls {
                        try channel.pipeline.syncOperations.addHandler(
                            try NIOSSLClientHandler(context: tls, serverHostname: address.serverName))
                    }
                    try channel.pipeline.syncOperations.addHandler(ReplyHandler())
                }
            }
            .connect(host: address.host, port: address.port)
            .flatMapErrorThrowing { error in
                if case ChannelError.connectTimeout = error { throw LinkFailure.timedOut }
                throw LinkFailure.unreachable(Self.reason(of: error))
            }
            .flatMap { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try channel.pipeline.syncOperations.handler(type: ReplyHandler.self)
                    return ValkeyConnection(channel, NIOLoopBound(handler, eventLoop: channel.eventLoop))
                }
            }
            .flatMap { (connection: ValkeyConnection) in
                connection.send(settings.greeting, within: end - .now()).flatMapThrowing { replies in
                    try Self.check(replies)
                    return connection
                }
                .flatMapErrorThrowing { error in
                    connection.close()
                    throw (error as? LinkFailure ?? .unreachable(Self.reason(of: error))).map(settings.withoutSecrets)
                }
            }
    }

    /// Sends commands and waits for their replies.
    /// - Returns: a reply for each command; fails only with a `LinkFailure`.
    func send(_ commands: [ValkeyCommand], within limit: TimeAmount) -> EventLoopFuture<[RESPValue]> {
        var bytes = channel.allocator.buffer(capacity: 512)
        for command in commands { command.write(to: &bytes) }
        let loop = channel.eventLoop
        return loop.flatSubmit { [handler, bytes] in
            handler.value.send(bytes, count: commands.count, within: limit, on: loop)
        }
    }

    func close() { channel.close(promise: nil) }

    /// `NOPERM` is an answer: a user may lack the right to `PING`.
    private static func check(_ replies: [RESPValue]) throws {
        guard let error = replies.lazy.compactMap(\.error).first, !error.hasPrefix("NOPERM") else { return }
        throw LinkFailure.refused(error)
    }

    private static func reason(of error: any Error) -> String {
        guard let error = error as? NIOConnectionError else { return "\(error)" }
        if let failure = error.connectionErrors.first { return "\(error.host):\(error.port): \(failure.error)" }
        return "\(error.host) is not a known host"
    }
}

/// The settings that all connections of a configuration share.
struct ConnectionSettings: Sendable {
    var user: String?
    var password: String?
    var tls: NIOSSLContext?
    /// The time for a new connection until it can be used.
    var connecting: TimeAmount

    /// The first commands of a connection.
    var greeting: [ValkeyCommand] {
        guard let password else { return [ValkeyCommand("PING")] }
        return [ValkeyCommand(words: ["AUTH"] + (user.map { [$0] } ?? []) + [password]), ValkeyCommand("PING")]
    }

    /// The engine's text, without the password. An engine that does not know a command repeats the beginning of its arguments.
    func withoutSecrets(_ text: String) -> String {
        let end = text.firstRange(ofBytesOf: ", with args beginning with")?.lowerBound ?? text.endIndex
        let text = String(text[..<end])
        guard let password, !password.isEmpty else { return text }
        return text.replacing(bytesOf: password, with: "…")
    }
}
