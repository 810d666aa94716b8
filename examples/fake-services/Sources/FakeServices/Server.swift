internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// An HTTP server on loopback for the fake services.
public struct Server: Sendable {
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup

    /// `http://127.0.0.1:9090`
    public let address: String

    /// Listens on loopback.
    /// - Parameter port: 0 selects a free one.
    /// - Throws: `IOError` if the port is in use.
    public static func start(_ services: FakeServices, port: Int = 0) async throws -> Server {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let channel = try await ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        try channel.pipeline.syncOperations.addHandler(Conversation(services))
                    }
                }
                .bind(host: "127.0.0.1", port: port).get()
            return Server(channel: channel, group: group, address: "http://127.0.0.1:\(channel.localAddress?.port ?? port)")
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    /// Waits until the server is stopped.
    public func untilStopped() async throws { try await channel.closeFuture.get() }

    /// Closes the port and every connection.
    public func stop() async throws {
        try await channel.close()
        try await group.shutdownGracefully()
    }
}

/// One connection.
private final class Conversation: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let services: FakeServices
    private var head: HTTPRequestHead?

    init(_ services: FakeServices) { self.services = services }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end:
            guard let head else { return }
            let address = "http://127.0.0.1:\(context.localAddress?.port ?? 0)"
            let answer = services.answer(
                target: head.uri, authorization: head.headers.first(name: "authorization"), address: address)
            write(answer, isHead: head.method == .HEAD, context)
        }
    }

    private func write(_ answer: Answer, isHead: Bool, _ context: ChannelHandlerContext) {
        var headers = HTTPHeaders([("content-type", answer.type), ("cache-control", answer.cacheControl)])
        if let location = answer.location { headers.add(name: "location", value: location) }
        var bytes: [UInt8] = []
        switch answer.body {
        case .bytes(let all):
            bytes = all
            headers.add(name: "content-length", value: String(all.count))
        case .truncated(let some, let announced):
            bytes = some
            headers.add(name: "content-length", value: String(announced))
        case .endless: break
        case .silence: return
        }
        let status = HTTPResponseStatus(statusCode: answer.status)
        context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
        if !isHead, !bytes.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: bytes)))), promise: nil)
        }
        switch answer.body {
        case .bytes, .silence: context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .truncated:
            context.flush()
            context.close(promise: nil)
        case .endless: pour(context)
        }
    }

    /// Writes the next piece after the previous one has been sent, until the client disconnects.
    private func pour(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        let this = NIOLoopBound(self, eventLoop: context.eventLoop)
        let piece = context.channel.allocator.buffer(repeating: 0xFF, count: 65_536)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(piece)))).whenSuccess { this.value.pour(bound.value) }
    }
}
