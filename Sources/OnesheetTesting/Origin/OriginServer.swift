public import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An origin on loopback that answers as a test says, misbehaviour included, and counts what it was asked.
public final class OriginServer: Sendable {
    /// `http://127.0.0.1:PORT`
    public let url: String
    public let port: Int
    private let channel: any Channel
    private let counts: CallCounts

    /// Starts listening on a port of the system's choice.
    /// - Parameter answer: called for each request, on an event loop, with its path and query and its fields by lower-case name.
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

    /// How often `target` was asked for; `nil` counts all requests.
    public func requests(for target: String? = nil) -> Int { counts.count(of: target) }

    /// Stops listening.
    public func stop() async throws { try await channel.close() }
}

/// What an origin does with a request.
public enum OriginAnswer: Sendable {
    /// A whole answer.
    case answer(status: Int = 200, type: String = "text/plain", fields: [String: String] = [:], body: ByteBuffer = ByteBuffer())
    /// Nothing, ever.
    case silence
    /// A body without an end, in pieces of `bytes` as fast as they are taken.
    case endless(type: String, bytes: Int)
    /// A body that is said to have more bytes than come before the connection closes.
    case brokenOff(type: String, body: ByteBuffer, missing: Int)
    /// The connection is closed at once.
    case hangUp
    /// These very bytes, whatever they are; then the connection closes.
    case raw(ByteBuffer)
    /// These very bytes, and then nothing.
    case rawThenSilence(ByteBuffer)
    /// The first bytes, and then the others again and again, as fast as they are taken.
    case rawWithoutEnd(ByteBuffer, ByteBuffer)
    /// The first bytes, and then the others again and again, twenty times a second.
    case drip(ByteBuffer, ByteBuffer)
    /// The other answer, once the gate is open.
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
