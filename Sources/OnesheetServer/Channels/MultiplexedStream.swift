import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypesHTTP2

/// One HTTP/2 stream that the fast path does not answer: behind `StreamEntrance`, `JoinedEnd`, NIO's decoder, `BodyWatch`, and Hummingbird.
struct MultiplexedStream: HTTPChannelHandler {
    typealias Value = HTTP1Channel.Value

    /// Answers a request that the fast path may have parsed.
    typealias Answer = @Sendable (Request, consuming ResponseWriter, any Channel, RoutedRequest?) async throws -> Void

    private let answer: Answer
    /// The stream's request, as the fast path has parsed it.
    private var routed: RoutedRequest?
    private let accessLog: AccessLog?
    private let memory: ResponseMemory
    private let timeouts: BodyWatch.Timeouts

    /// - Parameter accessLog: `nil` if there is none.
    init(accessLog: AccessLog?, memory: ResponseMemory, timeouts: BodyWatch.Timeouts, answer: @escaping Answer) {
        self.accessLog = accessLog
        self.memory = memory
        self.timeouts = timeouts
        self.answer = answer
    }

    var responder: Responder {
        { [answer, routed] request, writer, channel in try await answer(request, writer, channel, routed) }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandlers(JoinedEnd(), HTTP2FramePayloadToHTTPServerCodec())
            if let accessLog { try pipeline.addHandler(AccessLogStreamHandler(accessLog)) }
            try pipeline.addHandlers(BodyWatch(memory, timeouts), HTTPConnectionStateHandler(logger: logger))
            return try Value(wrappingChannelSynchronously: channel)
        }
    }

    func handle(value: Value, logger: Logger) async { await handleHTTP(asyncChannel: value, logger: logger) }

    /// Answers the request of an opened stream.
    func handle(_ opened: OpenedStream, logger: Logger) async {
        var stream = self
        stream.routed = opened.routed
        await stream.handle(value: opened.value, logger: logger)
    }
}

/// A stream with a channel.
struct OpenedStream: Sendable {
    let value: MultiplexedStream.Value
    /// Its request, as the fast path has parsed it.
    let routed: RoutedRequest?
}
