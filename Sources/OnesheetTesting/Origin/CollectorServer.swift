package import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A collector on loopback that keeps the traces it receives.
package final class CollectorServer: Sendable {
    package struct Delivery: Sendable {
        package let target: String
        package let type: String?
        package let body: ByteBuffer
    }

    /// `http://127.0.0.1:PORT/v1/traces`
    package let url: String
    private let channel: any Channel
    private let received: Deliveries

    /// - Parameter status: of its responses; `nil` never responds.
    package static func start(status: Int? = 200) async throws -> CollectorServer {
        let received = Deliveries()
        let channel = try await ServerBootstrap(group: NIOSingletons.posixEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(CollectorHandler(received, status: status))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return CollectorServer(channel, received)
    }

    private init(_ channel: any Channel, _ received: Deliveries) {
        self.channel = channel
        self.received = received
        url = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/v1/traces"
    }

    package var deliveries: [Delivery] { received.all.withLock { $0 } }

    /// Stops listening.
    package func stop() async throws { try await channel.close() }
}

private final class Deliveries: Sendable {
    let all = Mutex<[CollectorServer.Delivery]>([])
}

private final class CollectorHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let received: Deliveries
    private let status: Int?
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()

    init(_ received: Deliveries, status: Int?) {
        self.received = received
        self.status = status
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body(var bytes): body.writeBuffer(&bytes)
        case .end:
            guard let head else { return }
            let delivery = CollectorServer.Delivery(
                target: head.uri, type: head.headers.first(name: "Content-Type"), body: body)
            received.all.withLock { $0.append(delivery) }
            guard let status else { return }
            let answer = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: ["Content-Length": "2"])
            context.write(wrapOutboundOut(.head(answer)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "{}")))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
