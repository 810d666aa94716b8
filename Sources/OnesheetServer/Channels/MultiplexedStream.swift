import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypesHTTP2

/// One HTTP/2 stream that the fast path does not answer: behind `StreamEntrance`, `JoinedEnd`, NIO's decoder, `BodyWatch`, and Hummingbird.
struct MultiplexedStream: HTTPChannelHandler {
    typealias Value = HTTP1Channel.Value

    let responder: Responder
    private let accessLog: AccessLog?
    private let memory: ResponseMemory
    private let timeouts: BodyWatch.Timeouts

    /// - Parameter accessLog: `nil` if there is none.
    init(accessLog: AccessLog?, memory: ResponseMemory, timeouts: BodyWatch.Timeouts, responder: @escaping Responder) {
        self.accessLog = accessLog
        self.memory = memory
        self.timeouts = timeouts
        self.responder = responder
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
}
