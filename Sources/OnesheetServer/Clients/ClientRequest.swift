import OnesheetHTTP
import HummingbirdCore
import NIOCore
import OnesheetCore
import OnesheetPipeline
import Synchronization

/// A connection of a client.
final class ClientConnection: Sendable {
    /// `nil` on a Unix socket.
    let peer: IPAddress?
    fileprivate let connections: OpenConnections
    /// Bytes of long bodies that are being sent on this connection.
    fileprivate let bytes = Atomic(0)
    /// The requests that the router answers.
    fileprivate let requests = Atomic(0)
    private let isReady = Atomic(false)
    private let isLeaving = Atomic(false)

    init(_ peer: IPAddress?, _ connections: OpenConnections) {
        self.peer = peer
        self.connections = connections
    }

    /// Whether the router answers no request of the connection, and `leave` has not been called. Requests that the event loop answers do not
    /// count.
    var isIdle: Bool { requests.load(ordering: .relaxed) == 0 && !isLeaving.load(ordering: .relaxed) }

    /// Notes that the TLS handshake is over, if there is one, and that the handlers of requests are in place.
    func noteReady() { isReady.store(true, ordering: .relaxed) }

    /// Ends the connection, whose channel is `channel`: at once before it is ready, or else after the responses that are being sent.
    func leave(_ channel: any Channel) {
        isLeaving.store(true, ordering: .relaxed)
        // The connection becomes ready on its own event loop. Asked elsewhere, it could begin a response before it is closed.
        channel.eventLoop.execute { [self] in
            if isReady.load(ordering: .relaxed) {
                channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            } else {
                channel.close(promise: nil)
            }
        }
    }
}

/// A request that is being answered: its client and its limits.
final class ClientRequest: Sendable {
    /// The request of the current task.
    @TaskLocal static var current: ClientRequest?

    /// The connection, or the HTTP/2 stream, that the request arrived on.
    let channel: any Channel
    private let client: ClientConnection
    /// The address whose limits the request counts against; `nil` if it is unknown.
    private let owner: ClientAddress?
    private let state = Mutex(State())
    /// The number of bytes written to the client before waiting for it to take them.
    let pieceLength: Int

    private struct State {
        /// Whether the request is exempt from the miss limit: it was counted already, or it is the administrator's.
        var isExempt = false
        /// Whether there was room for its response when its work began.
        var hasRoom = false
        /// The place among the waiting requests, from the first miss until the response begins.
        var place: MemoryShare.Place?
        var body: BodyHold?
        var length = 0
    }

    private init(of client: ClientConnection, on channel: any Channel, owner: ClientAddress?, pieceLength: Int) {
        self.client = client
        self.channel = channel
        self.owner = owner
        self.pieceLength = pieceLength
    }

    deinit { release() }

    /// Answers `request` with `responder` and applies its client's limits.
    static func answer(
        _ request: Request, _ writer: consuming ResponseWriter, on channel: any Channel, of connections: OpenConnections,
        with responder: HTTPChannelHandler.Responder
    ) async throws {
        // The thread is one of Swift's shared pool, and keeps the priority.
        ThreadPriority.requests.apply()
        let own = connections.client(of: channel)
        guard let client = own ?? channel.parent.flatMap(connections.client) else {
            // The connection is already closed.
            return
        }
        client.requests.add(1, ordering: .relaxed)
        defer { client.requests.subtract(1, ordering: .relaxed) }
        let owner = connections.identity.owner(ofRequestFrom: client.peer, request.headers)
        // An HTTP/2 stream cannot tell how much of a piece the client has taken, so its pieces are smaller.
        let current = ClientRequest(
            of: client, on: channel, owner: owner, pieceLength: own == nil ? 16 << 10 : 64 << 10)
        defer { current.release() }
        let permit = MissPermit(for: owner?.key) { () throws(Failure) in try current.countMiss() }
        var writers: ResponseWriter? = writer
        try await $current.withValue(current) {
            try await MissPermit.$current.withValue(permit) {
                guard let writer = writers.take() else { return }
                try await responder(request, writer, channel)
            }
        }
    }

    /// Whether `X-Forwarded-Proto` can be trusted. If the operator configured proxies, only those are trusted.
    var isFromProxy: Bool {
        let connections = client.connections
        return !connections.namesProxies || client.peer.map(connections.identity.isTrusted) ?? true
    }

    /// Exempts the administrator's requests from the miss limit.
    func exempt() { state.withLock { $0.isExempt = true } }

    /// Counts one miss per request against the client's limits.
    private func countMiss() throws(Failure) {
        let connections = client.connections
        // A request that has begun its work is not refused in the middle of it.
        guard state.withLock({ $0.hasRoom }) || connections.memory.makeRoom(for: owner) else {
            connections.count(.memory)
            throw .overloaded(retryAfter: 1)
        }
        // A page asks for several images at the same time.
        let refusal: (reason: OpenConnections.Refusal, error: Failure)? = state.withLock { state in
            state.hasRoom = true
            guard !state.isExempt else { return nil }
            if state.place == nil { state.place = connections.waiting.admit(owner) }
            guard state.place != nil else { return (.waiting, .overloaded(retryAfter: 1)) }
            if let owner, let wait = connections.addressLimits.miss(owner) { return (.misses, .tooManyRequests(retryAfter: wait)) }
            state.isExempt = true
            return nil
        }
        guard let refusal else { return }
        connections.count(refusal.reason)
        throw refusal.error
    }

    /// Reserves memory for a body until the response is written. The request no longer waits for an image.
    /// - Parameter isInTier: whether the memory tier holds the body.
    /// - Throws: `Problem` if there is no room.
    func hold(_ body: ByteBuffer, isInTier: Bool) throws(Problem) {
        let memory = client.connections.memory
        let length = body.readableBytes
        // One client's streams may not take all the room. A single body is always allowed.
        let others = client.bytes.add(length, ordering: .relaxed).oldValue
        let isCrowded = !isInTier && length > ResponseMemory.small && others > 0 && others + length > memory.limit / 4
        guard !isCrowded, let hold = memory.admit(body, isInTier: isInTier, for: owner) else {
            client.bytes.subtract(length, ordering: .relaxed)
            client.connections.count(.memory)
            throw .noRoomForAnswers
        }
        state.withLock { state in
            state.body = hold
            state.length = length
            state.place = nil
        }
    }

    private func release() {
        let old = state.withLock { state in
            defer { (state.body, state.length, state.place) = (nil, 0, nil) }
            return state
        }
        client.bytes.subtract(old.length, ordering: .relaxed)
        withExtendedLifetime(old) {}
    }
}

extension ResponseBody {
    /// The most bytes of a body that wait for an event loop.
    private static let mostUnseen = 64 << 10

    /// A body of `bytes`. A long body is written in pieces, each after the client has taken the previous one.
    ///
    /// The writer takes pieces without end until the event loop has written one and found that the connection is full. Without a wait for
    /// the loop, all pieces would be in its queue at once: it would write them in one turn, with all other connections waiting, and the
    /// request would end, with its limits, before the client has taken anything.
    static func pieces(of bytes: ByteBuffer) -> ResponseBody {
        let length = ClientRequest.current?.pieceLength ?? 64 << 10
        let loop = ClientRequest.current?.channel.eventLoop
        guard bytes.readableBytes > length else { return ResponseBody(byteBuffer: bytes) }
        return ResponseBody(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            var unseen = 0
            while let piece = rest.readSlice(length: min(length, rest.readableBytes)), piece.readableBytes > 0 {
                try await writer.write(piece)
                unseen += piece.readableBytes
                if let loop, unseen >= mostUnseen || rest.readableBytes == 0 {
                    try await loop.submit {}.get()
                    unseen = 0
                }
            }
            try await writer.finish(nil)
        }
    }
}
