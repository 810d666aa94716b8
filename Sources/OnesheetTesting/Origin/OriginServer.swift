public import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An origin on loopback. A test decides its answers, including faulty ones, and counts its requests.
public final class OriginServer: Sendable {
    /// `http://127.0.0.1:PORT`
    public let url: String
    /// The port on loopback.
    public let port: Int
    private let channel: any Channel
    private let counts: CallCounts

    /// Starts listening on a port of the system's choice.
    /// - Parameter answer: called for each request on an event loop, with its path and query and its fields by lower-case name. That of a
    ///   POST has its body as `:body`.
    public static func start(
        _ answer: @escaping @Sendable (_ target: String, _ fields: [String: String]) -> OriginAnswer
    ) async throws -> OriginServer {
        let counts = CallCounts()
        let channel = try await ServerBootstrap(group: NIOSingletons.posixEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(OriginHandler(answer: answer, counts: counts))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return OriginServer(channel: channel, counts: counts)
    }

    private init(channel: any Channel, counts: CallCounts) {
        self.channel = channel
        self.counts = counts
        port = channel.localAddress?.port ?? 0
        url = "http://127.0.0.1:\(port)"
    }

    /// The number of requests for `target`; `nil` counts all requests.
    public func requests(for target: String? = nil) -> Int { counts.count(of: target) }

    /// Stops listening.
    public func stop() async throws { try await channel.close() }
}

/// The reaction of an origin to a request.
public enum OriginAnswer: Sendable {
    /// A complete response.
    case answer(status: Int = 200, type: String = "text/plain", fields: [String: String] = [:], body: ByteBuffer = ByteBuffer())
    /// No bytes at all.
    case silence
    /// An endless body, in pieces of `bytes` as fast as the client reads.
    case endless(type: String, bytes: Int)
    /// A body that ends before its announced length.
    case brokenOff(type: String, body: ByteBuffer, missing: Int)
    /// Closes the connection immediately.
    case hangUp
    /// Sends exactly these bytes and closes the connection.
    case raw(ByteBuffer)
    /// Sends exactly these bytes and stops.
    case rawThenSilence(ByteBuffer)
    /// Sends the first bytes, and then repeats the others as fast as the client reads.
    case rawWithoutEnd(ByteBuffer, ByteBuffer)
    /// Sends the first bytes, and then repeats the others twenty times a second.
    case drip(ByteBuffer, ByteBuffer)
    /// The other answer, after the gate opens.
    indirect case held(Gate, OriginAnswer)

    /// A redirect.
    public static func redirect(to location: String, status: Int = 302) -> Self {
        .answer(status: status, fields: ["Location": location])
    }
}

final class CallCounts: Sendable {
    private let calls = Mutex<[String: Int]>([:])

    func add(_ target: String) { calls.withLock { $0[target, default: 0] += 1 } }

    func count(of target: String?) -> Int {
        calls.withLock { calls in target.map { calls[$0] ?? 0 } ?? calls.values.reduce(0, +) }
    }
}
