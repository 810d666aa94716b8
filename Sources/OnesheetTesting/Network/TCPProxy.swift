internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A proxy on loopback that a test can cut, as a network is that splits: connections stay open, new ones are accepted, and nothing passes.
package final class TCPProxy: Sendable {
    package let port: Int
    private let listener: any Channel
    private let wire: Wire

    /// Starts a proxy of a server on loopback.
    /// - Parameter target: the port of the server.
    package static func start(to target: Int) async throws -> TCPProxy {
        let wire = Wire()
        let listener = try await ServerBootstrap(group: NIOSingletons.posixEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { client in
                // It has no handler then, so what comes is thrown away.
                guard wire.admits(client) else { return client.eventLoop.makeSucceededVoidFuture() }
                return ClientBootstrap(group: client.eventLoop)
                    .channelInitializer { server in
                        server.eventLoop.makeCompletedFuture {
                            try server.pipeline.syncOperations.addHandler(Passage(to: client, wire))
                        }
                    }
                    .connect(host: "127.0.0.1", port: target)
                    .flatMap { server in
                        wire.note(server)
                        return client.eventLoop.makeCompletedFuture {
                            try client.pipeline.syncOperations.addHandler(Passage(to: server, wire))
                        }
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return TCPProxy(listener, wire)
    }

    private init(_ listener: any Channel, _ wire: Wire) {
        self.listener = listener
        self.wire = wire
        port = listener.localAddress?.port ?? 0
    }

    /// Blocks both directions, including the end of a connection.
    package func cut() { wire.cut() }

    /// Lets everything pass again. The connections of before end, because they may have lost bytes.
    package func heal() { for channel in wire.heal() { channel.close(promise: nil) } }

    /// Stops listening, and ends all connections.
    package func stop() async throws {
        heal()
        try await listener.close()
    }
}

/// The state of the connections of a proxy.
private final class Wire: Sendable {
    private struct State {
        var isCut = false
        var channels: [any Channel] = []
    }

    private let state = Mutex(State())

    var isCut: Bool { state.withLock { $0.isCut } }

    /// Notes a channel.
    /// - Returns: whether its bytes pass.
    func admits(_ channel: any Channel) -> Bool {
        state.withLock { state in
            state.channels.append(channel)
            return !state.isCut
        }
    }

    func note(_ channel: any Channel) { _ = admits(channel) }

    func cut() { state.withLock { $0.isCut = true } }

    /// - Returns: the channels to close.
    func heal() -> [any Channel] {
        state.withLock { state in
            defer { state = State() }
            return state.channels
        }
    }
}

/// Forwards data from one end of a connection to the other.
private final class Passage: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel
    private let wire: Wire

    init(to other: any Channel, _ wire: Wire) {
        self.other = other
        self.wire = wire
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !wire.isCut else { return }
        other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !wire.isCut { other.close(promise: nil) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
