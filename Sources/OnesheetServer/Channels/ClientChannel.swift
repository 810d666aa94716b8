import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypesHTTP1
import OnesheetCore

/// An HTTP/1.1 connection: `FastPathHandler`, and behind it Hummingbird's channel with the parser, which is added with the first request
/// that needs it. A connection whose requests the fast path answers has no parser.
struct ClientChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        /// The parser's end of the connection. Fails if the connection closes before a request needs it.
        fileprivate let parsed: EventLoopFuture<HTTP1Channel.Value>
        fileprivate let http1: HTTP1Channel
    }

    /// The maximum size of a request's header fields, in bytes. A larger request gets 400 and the connection is closed.
    private static let headLimit = 16 << 10

    let services: ConnectionServices

    /// Sets up HTTP/1.1 on `channel`, whose inbound data are bytes.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            guard let client = services.connections.client(of: channel) else { throw ChannelError.alreadyClosed }
            let next = NextRequest()
            let http1 = http1(of: client, next)
            let parsed = channel.eventLoop.makePromise(of: HTTP1Channel.Value.self)
            channel.closeFuture.whenComplete { _ in parsed.fail(ChannelError.alreadyClosed) }
            let clients = services.clients
            let timeouts = ClientTimeouts(
                idleTimeout: .init(clients.idleTimeout.duration), requestTimeout: .init(clients.requestTimeout.duration))
            let handler = FastPathHandler(
                services.fastPath?.part(on: channel.eventLoop), of: client, next: next, memory: services.connections.memory,
                accessLog: services.accessLog,
                timeouts: timeouts
            ) {
                addParser(http1, to: channel, logger).cascade(to: parsed)
            }
            try channel.syncOptions?.boundReads()
            try channel.pipeline.syncOperations.addHandler(handler)
            client.noteReady()
            return Value(channel: channel, parsed: parsed.futureResult, http1: http1)
        }
    }

    private func http1(of client: ClientConnection, _ next: NextRequest) -> HTTP1Channel {
        HTTP1Channel(
            responder: { [services] request, writer, channel in
                try await services.answer(request, writer, of: client, on: channel, routed: next.take())
            },
            configuration: .init(
                additionalChannelHandlers: [UnansweredRequests(), BodyWatch(services.connections.memory, nil)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: Self.headLimit, maxHeaderListSize: Self.headLimit, maxHeaderFieldCount: 100)))
    }

    /// Adds the parser, with `HeadCheck` behind it, at the end of the pipeline. Closes a connection that cannot have one.
    private func addParser(_ http1: HTTP1Channel, to channel: any Channel, _ logger: Logger) -> EventLoopFuture<HTTP1Channel.Value>
    {
        let parsed = http1.setup(channel: channel, logger: logger).kept(whileOpen: channel).flatMapThrowing { value in
            let operations = channel.pipeline.syncOperations
            let behind = ChannelPipeline.SynchronousOperations.Position.before(
                try operations.handler(type: HTTP1ToHTTPServerCodec.self))
            if let accessLog = services.accessLog {
                try operations.addHandler(AccessLogHandler(accessLog, peer: channel.remoteAddress?.address), position: behind)
            }
            try operations.addHandler(HeadCheck(), position: behind)
            return value
        }
        parsed.whenFailure { _ in channel.close(promise: nil) }
        return parsed
    }

    func handle(value: Value, logger: Logger) async {
        await value.channel.closedWhenCancelled {
            do {
                await value.http1.handle(value: try await value.parsed.get(), logger: logger)
            } catch {
                logger.trace("the connection closed without a request for the parser: \(error)")
            }
        }
    }
}
