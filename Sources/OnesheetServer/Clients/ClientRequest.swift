import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTPTypes
import OnesheetCore
import OnesheetHTTP
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
    private let work = Mutex(Work())

    /// What an HTTP/1.1 connection does for its client.
    private struct Work {
        var response: Task<Response, Never>?
        var hasLeft = false
    }

    init(_ peer: IPAddress?, _ connections: OpenConnections) {
        self.peer = peer
        self.connections = connections
    }

    /// Whether the router answers no request of the connection, and `leave` has not been called. Requests that the event loop answers do not
    /// count.
    var isIdle: Bool { requests.load(ordering: .relaxed) == 0 && !isLeaving.load(ordering: .relaxed) }

    /// Cancels `response` if the client leaves before it is there.
    fileprivate func begin(_ response: Task<Response, Never>) {
        let hasLeft = work.withLock { work in
            work.response = response
            return work.hasLeft
        }
        if hasLeft { response.cancel() }
    }

    fileprivate func end() { work.withLock { $0.response = nil } }

    /// Cancels the response, because the client has left. Other requests get its place.
    func noteLeft() {
        let response = work.withLock { work in
            work.hasLeft = true
            return work.response
        }
        response?.cancel()
    }

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
    /// The identifier of the request in logs and problem documents.
    let id: String
    /// The connection, or the HTTP/2 stream, that the request arrived on.
    private let channel: any Channel
    private let isStream: Bool
    private let client: ClientConnection
    /// The address whose limits the request counts against; `nil` if it is unknown.
    private let owner: ClientAddress?
    private let state = Mutex(State())
    /// The number of bytes written to the client before waiting for it to take them.
    private let pieceLength: Int

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

    /// - Parameters:
    ///   - channel: the connection, or the HTTP/2 stream, that the request arrived on.
    ///   - isStream: whether it is a stream.
    ///   - fields: the request's header fields.
    init(of client: ClientConnection, on channel: any Channel, isStream: Bool, _ fields: HTTPFields) {
        id = fields.requestIdentifier
        self.client = client
        self.channel = channel
        self.isStream = isStream
        owner = client.connections.identity.owner(ofRequestFrom: client.peer, fields)
        // An HTTP/2 stream cannot tell how much of a piece the client has taken, so its pieces are smaller.
        pieceLength = isStream ? 16 << 10 : 64 << 10
    }

    deinit { release() }

    /// Answers the request: applies its client's limits until the response is written.
    /// - Parameters:
    ///   - endsEarly: whether the work ends when the client leaves. What changes something is done all the same.
    ///   - respond: makes the response.
    func answer(
        _ writer: consuming ResponseWriter, endsEarly: Bool, _ respond: @escaping @Sendable () async -> Response
    ) async throws {
        // The thread is one of Swift's shared pool, and keeps the priority.
        ThreadPriority.requests.apply()
        client.requests.add(1, ordering: .relaxed)
        defer { client.requests.subtract(1, ordering: .relaxed) }
        defer { release() }
        let work = Task { await WorkContext.with(set, do: respond) }
        if endsEarly {
            if isStream { channel.closeFuture.whenComplete { _ in work.cancel() } } else { client.begin(work) }
        }
        let response = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        client.end()
        guard response.body.contentLength ?? 0 > pieceLength else {
            return try await writer.write(response: response.head, body: response.body)
        }
        let body = try await writer.writeHead(response.head)
        try await response.body.write(PacedWriter(body, pieceLength: pieceLength, on: channel.eventLoop))
    }

    /// Sets for whom the work on the request is.
    private func set(_ context: inout WorkContext) {
        context.clients = FlightClients([owner?.key ?? .anonymous])
        // Requests come from anyone, so titles count as unknown until the source is found to list them.
        context.familiarity = .unknown
        context.request = id
        context.countMiss = { [self] () throws(Failure) in try countMiss() }
    }

    /// Whether `X-Forwarded-Proto` can be trusted. If the operator configured proxies, only those are trusted.
    var isFromProxy: Bool {
        let connections = client.connections
        return !connections.namesProxies || client.peer.map(connections.identity.isTrusted) ?? true
    }

    /// Exempts the administrator's requests from the miss limit.
    func exempt() { state.withLock { $0.isExempt = true } }

    /// Asks a client for the body of its request, which it holds back until then (RFC 9110 §10.1.1).
    func askForBody() {
        channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)), promise: nil)
    }

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
