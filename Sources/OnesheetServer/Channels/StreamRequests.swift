import NIOCore
import NIOHPACK
import NIOHTTP2
import OnesheetCore

/// The head of a request on an HTTP/2 stream.
struct StreamRequest {
    let fields: HPACKHeaders
    let begun = NIODeadline.now()
}

/// Decides how the requests of an HTTP/2 connection are answered: at once by the fast path, or by the router if there is room for the
/// stream. Writes those that the router does not get into the access log.
///
/// Streams that the router answers wait in line. The first of them begin in the next iteration of the event loop, further ones in the
/// connection's turns: the handlers and the task of a stream take a third of a millisecond. A stream that the client resets before its turn
/// leaves the line, and nothing is asked for it. If a read has more than `mostCost` requests, its last hits wait in line too.
final class StreamRequests {
    /// The highest cost of one turn, in responses of the fast path.
    private static let mostCost = 256
    /// The cost of a stream that the router answers, in responses of the fast path.
    static let costOfRouter = 32
    /// The most malformed requests of a connection.
    private static let mostMalformed = 200

    /// The address that the streams count for.
    let owner: ClientAddress?
    private let peer: IPAddress?
    private let fastPath: LoopFastPath?
    private let connections: OpenConnections
    private let places: MemoryShare
    private let accessLog: AccessLog?
    private let turns: ConnectionTurns
    private let loop: any EventLoop
    private var line = CircularBuffer<StreamEntrance>()
    private var isWaiting = false
    /// The heads that were looked at since the last read of the connection or its last turn.
    private var looked = 0
    private var malformed = 0
    private var routed: RoutedRequest?
    /// The streams of the connection that are open.
    var open = 0

    /// - Parameters:
    ///   - peer: the other end of the connection.
    ///   - loop: its event loop.
    ///   - fastPath: `nil` if the router handles every request.
    ///   - places: the places of streams that the router answers.
    ///   - accessLog: `nil` if there is none.
    ///   - turns: the connections of the event loop that wait for their turn.
    init(
        from peer: IPAddress?, on loop: any EventLoop, _ fastPath: LoopFastPath?, connections: OpenConnections, places: MemoryShare,
        accessLog: AccessLog?, turns: ConnectionTurns
    ) {
        self.peer = peer
        owner = connections.identity.owner(ofConnectionFrom: peer)
        self.loop = loop
        self.fastPath = fastPath
        self.connections = connections
        self.places = places
        self.accessLog = accessLog
        self.turns = turns
    }

    /// Whether another request may be looked at before the connection's next turn.
    var hasTurn: Bool { looked < Self.mostCost }

    /// Notes that the connection has handled what it has read.
    func readEnded() { looked = 0 }

    /// Counts a malformed request.
    /// - Returns: whether the connection may go on.
    func countMalformed() -> Bool {
        malformed += 1
        return malformed <= Self.mostMalformed
    }

    /// What the fast path makes of a request without a body; `nil` if nothing.
    func hit(_ request: StreamRequest) -> ResponseHeadCache.Outcome? {
        // `RequestFields` has checked all fields; `SimpleRequest` takes four of them.
        guard hasTurn, let simple = SimpleRequest(request.fields) else { return nil }
        looked += 1
        let outcome = fastPath?.heads.answer(simple, since: request.begun)
        if case .answer(let response)? = outcome {
            log(request) {
                $0.note(response.head.fields)
                ($0.bytes, $0.duration) = (response.length, .now() - request.begun)
            }
        }
        return outcome
    }

    /// Notes the next request for which the multiplexer creates a channel, as the fast path has parsed it.
    func handOver(_ parsed: RoutedRequest?) { routed = parsed }

    /// The request that was handed over, if the fast path has parsed it.
    func takeRouted() -> RoutedRequest? { routed.take() }

    /// A place for a stream that the router answers; `nil` if it is refused. Then the client may send the request again (RFC 9113 §8.7).
    func admit(_ request: StreamRequest) -> MemoryShare.Place? {
        looked += 1
        if let place = places.admit(owner) { return place }
        // A refused stream has no status. In the log it is what HTTP/1.1 clients get.
        log(request) { $0.status = 503 }
        connections.count(.memory)
        return nil
    }

    /// Calls `begin` of `stream` in its turn.
    func wait(_ stream: StreamEntrance) {
        line.append(stream)
        guard !isWaiting else { return }
        isWaiting = true
        let here = NIOLoopBound(self, eventLoop: loop)
        loop.execute { _ = here.value.takeTurn() }
    }

    /// - Returns: whether a stream was still there.
    private func takeTurn() -> Bool {
        (isWaiting, looked) = (false, 0)
        var cost = 0
        while cost < Self.mostCost, let stream = line.popFirst() { cost += stream.begin() }
        if !line.isEmpty, !isWaiting {
            isWaiting = true
            turns.wait { self.takeTurn() }
        }
        return cost > 0
    }

    /// Notes that the client has left before its request was answered.
    func drop(_ request: StreamRequest) { log(request) { _ in } }

    /// - Parameter note: adds the known facts of the response.
    private func log(_ request: StreamRequest, _ note: (inout LoggedRequest) -> Void) {
        guard let accessLog else { return }
        var answered = LoggedRequest(head: .parsed(RequestFacts(request.fields)), peer: peer)
        note(&answered)
        accessLog.add(answered)
    }
}
