import NIOCore
import NIOHTTP1
import Synchronization

/// An origin's end of a connection that announces keep-alive and then closes.
final class ClosingHandler: ChannelInboundHandler {
    enum Farewell {
        case never, afterTheAnswer, withTheSecondRequest
    }

    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let farewell: Farewell
    private var requests = 0

    init(_ farewell: Farewell) { self.farewell = farewell }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        requests += 1
        if requests == 2, farewell == .withTheSecondRequest { return context.close(promise: nil) }
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "2"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "ok")))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if farewell == .afterTheAnswer { context.close(promise: nil) }
    }
}

/// The connections to an origin.
final class VisitorCount: Sendable {
    private let visitors = Mutex((all: 0, open: 0))
    /// All connections, the closed ones too.
    var count: Int { visitors.withLock { $0.all } }
    var open: Int { visitors.withLock { $0.open } }

    func add(_ channel: any Channel) {
        visitors.withLock {
            $0.all += 1
            $0.open += 1
        }
        channel.closeFuture.whenComplete { [self] _ in visitors.withLock { $0.open -= 1 } }
    }
}
