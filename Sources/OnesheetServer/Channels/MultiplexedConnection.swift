import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import OnesheetCore
import Synchronization

/// One HTTP/2 connection.
///
/// Hummingbird closes an idle or old connection gracefully (GOAWAY and a ping) and waits for the client's answer. `SlowClients`
/// closes the connection if no answer arrives. Hummingbird offers no choice of HTTP/2 settings, so NIO's defaults apply
/// (`nioDefaultSettings`): 100 streams, and 16 KiB of header fields per request, as on HTTP/1.1.
struct MultiplexedConnection: Sendable {
    /// The maximum age of a connection. Abandoned streams would otherwise keep a connection from becoming idle.
    private static let maximumAge = Duration.seconds(600)

    private let http2: HTTP2Channel
    private let value: HTTP2Channel.Value

    /// Sets up HTTP/2 on `channel`, whose inbound data are decrypted bytes.
    static func begin(
        on channel: any Channel, fastPath: FastPath?, clients: ClientsConfiguration, connections: OpenConnections,
        accessLog: AccessLog?, logger: Logger, responder: @escaping HTTPChannelHandler.Responder
    ) -> EventLoopFuture<MultiplexedConnection> {
        let idleTimeout = clients.idleTimeout.duration
        var configuration = HTTP2ChannelConfiguration(idleTimeout: idleTimeout, gracefulCloseTimeout: idleTimeout)
        configuration.maxAgeTimeout = maximumAge
        let memory = connections.memory
        let timeouts = BodyWatch.Timeouts(request: TimeAmount(clients.requestTimeout.duration), idle: TimeAmount(idleTimeout))
        configuration.streamConfiguration = .init(
            additionalChannelHandlers: streamHandlers(fastPath, memory, timeouts, accessLog: accessLog))
        let requests = RequestsUnderWay()
        let http2 = HTTP2Channel(
            responder: { request, writer, stream in
                requests.begin()
                defer { requests.end() }
                try await ClientRequest.answer(request, writer, on: stream, of: connections, with: responder)
            }, configuration: configuration)
        // Allow the same time again for the answer to GOAWAY.
        let closeTimeout = TimeAmount(idleTimeout * 2)
        let tooOld = channel.eventLoop.scheduleTask(in: TimeAmount(maximumAge) + closeTimeout) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in tooOld.cancel() }
        return channel.eventLoop.makeCompletedFuture {
            let slow = SlowClients(idleTimeout: closeTimeout, requestTimeout: closeTimeout) {
                requests.isEmpty ? .idle : .answering
            }
            try channel.pipeline.syncOperations.addHandler(slow, position: .first)
        }.flatMap {
            http2.setup(channel: channel, logger: logger)
        }.map { MultiplexedConnection(http2: http2, value: $0) }.kept(whileOpen: channel)
    }

    /// The handlers of a stream, from the connection inwards.
    private static func streamHandlers(
        _ fastPath: FastPath?, _ memory: ResponseMemory, _ timeouts: BodyWatch.Timeouts, accessLog: AccessLog?
    ) -> [any RemovableChannelHandler] {
        let handlers: [any RemovableChannelHandler] = [BodyWatch(memory, timeouts), FastPathStreamHandler(fastPath)]
        guard let accessLog else { return handlers }
        return [AccessLogStreamHandler(accessLog)] + handlers
    }

    /// Answers the requests until the connection is closed, also if the task is cancelled.
    func handle(_ logger: Logger) async {
        // A cancelled sequence drops streams that arrive before the connection is closed, which ends the process.
        let streams = Task { await http2.handle(value: value, logger: logger) }
        await withTaskCancellationHandler {
            await streams.value
        } onCancel: {
            value.channel.closeFuture.whenComplete { _ in streams.cancel() }
        }
    }
}

/// Counts the requests of a connection that are being answered.
private final class RequestsUnderWay: Sendable {
    private let count = Atomic(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func begin() { count.add(1, ordering: .relaxed) }
    func end() { count.subtract(1, ordering: .relaxed) }
}
