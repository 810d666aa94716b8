import OnesheetHTTP
import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetCore
import OnesheetPipeline
import Synchronization

/// Who is at the other end of a connection.
final class Client: Sendable {
    /// `nil` on a Unix socket.
    let peer: IPAddress?
    fileprivate let connections: OpenConnections
    /// Bytes of long bodies that are being sent on this connection.
    fileprivate let bytes = Atomic(0)

    init(_ peer: IPAddress?, _ connections: OpenConnections) { (self.peer, self.connections) = (peer, connections) }
}

/// A request while it is answered: for whom it is, and what it may take.
final class ClientRequest: Sendable {
    /// The one that the running task works for.
    @TaskLocal static var current: ClientRequest?

    /// The connection or, of HTTP/2, the stream that it came on.
    let channel: any Channel
    private let client: Client
    private let fields: HTTPFields
    private let state = Mutex(State())
    /// Bytes that are written to the client at once, before it has taken some.
    let pieceLength: Int

    private struct State {
        /// Whether it may cause as much work as it likes: it has paid, or is the administrator's.
        var isFree = false
        var body: BodyHold?
        var length = 0
    }

    private init(of client: Client, on channel: any Channel, _ fields: HTTPFields, pieceLength: Int) {
        (self.client, self.channel, self.fields, self.pieceLength) = (client, channel, fields, pieceLength)
    }

    deinit { letGo() }

    /// Lets `responder` answer `request` on `channel` as one of its client's requests.
    static func answer(
        _ request: Request, _ writer: consuming ResponseWriter, on channel: any Channel, of connections: OpenConnections,
        with responder: HTTPChannelHandler.Responder
    ) async throws {
        let own = connections.client(of: channel)
        guard let client = own ?? channel.parent.flatMap(connections.client) else {
            // The connection is closed already.
            return
        }
        // A stream of HTTP/2 cannot tell how much of a piece was taken, so its pieces are smaller.
        let current = ClientRequest(of: client, on: channel, request.headers, pieceLength: own == nil ? 16 << 10 : 64 << 10)
        defer { current.letGo() }
        let permit = MissPermit { () throws(PipelineError) in try current.takeMiss() }
        var writers: ResponseWriter? = writer
        try await $current.withValue(current) {
            try await MissPermit.$current.withValue(permit) {
                guard let writer = writers.take() else { return }
                try await responder(request, writer, channel)
            }
        }
    }

    /// Whether the client's word on how it was reached counts: if the operator named proxies, they alone know.
    var isFromProxy: Bool {
        let connections = client.connections
        return !connections.namesProxies || client.peer.map(connections.identity.isTrusted) ?? true
    }

    /// The administrator asks: nothing is counted.
    func free() { state.withLock { $0.isFree = true } }

    /// Takes leave to cause work, once for each request.
    private func takeMiss() throws(PipelineError) {
        let connections = client.connections
        guard connections.memory.makeRoom() else {
            connections.count(.memory)
            throw .overloaded(retryAfter: 1)
        }
        guard state.withLock({ $0.isFree }) == false else { return }
        if let owner = connections.identity.owner(ofRequestFrom: client.peer, fields), let wait = connections.shares.miss(owner) {
            connections.count(.misses)
            throw .tooManyRequests(retryAfter: wait)
        }
        free()
    }

    /// Takes room for a body, until the answer is written.
    /// - Parameter isInTier: whether the memory tier has it.
    /// - Throws: `Problem` if there is no room.
    func hold(_ body: ByteBuffer, isInTier: Bool) throws(Problem) {
        let memory = client.connections.memory
        let length = body.readableBytes
        // One client's streams do not take everybody's room, and one body is always possible.
        let others = client.bytes.add(length, ordering: .relaxed).oldValue
        let isCrowded = !isInTier && length > ResponseMemory.small && others > 0 && others + length > memory.limit / 4
        guard !isCrowded, let hold = memory.admit(body, isInTier: isInTier) else {
            client.bytes.subtract(length, ordering: .relaxed)
            client.connections.count(.memory)
            throw .noRoomForAnswers
        }
        state.withLock { ($0.body, $0.length) = (hold, length) }
    }

    private func letGo() {
        let (hold, length) = state.withLock { state in
            defer { (state.body, state.length) = (nil, 0) }
            return (state.body, state.length)
        }
        client.bytes.subtract(length, ordering: .relaxed)
        withExtendedLifetime(hold) {}
    }
}

extension ResponseBody {
    /// `bytes` as a body. A long one is written in pieces, the next when the client has taken the one before.
    static func pieces(of bytes: ByteBuffer) -> ResponseBody {
        let length = ClientRequest.current?.pieceLength ?? 64 << 10
        guard bytes.readableBytes > length else { return ResponseBody(byteBuffer: bytes) }
        return ResponseBody(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            while let piece = rest.readSlice(length: min(length, rest.readableBytes)), piece.readableBytes > 0 {
                try await writer.write(piece)
            }
            try await writer.finish(nil)
        }
    }
}
