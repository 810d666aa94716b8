import NIOCore
import NIOHPACK
import NIOHTTP2
import OnesheetCore

/// The head of a request on an HTTP/2 stream.
struct StreamRequest {
    let stream: HTTP2StreamID
    let fields: HPACKHeaders
    /// Whether it has no body.
    let isLast: Bool
    let contentLength: Int?
    let begun = NIODeadline.now()
}

/// Decides how the requests of an HTTP/2 connection are answered: at once by the fast path, or through a channel of their stream if there is
/// room for one. Writes those that get no channel into the access log.
final class StreamRequests {
    enum Answer {
        case atOnce(ReadyResponse)
        case inChannel
        /// The client may send the request again (RFC 9113 §8.7).
        case refused
    }

    /// The address that the streams count for.
    let owner: ClientAddress?
    private let peer: IPAddress?
    private let fastPath: LoopFastPath?
    private let connections: OpenConnections
    private let places: MemoryShare
    private let accessLog: AccessLog?
    /// The place for the next stream channel, and the parsed request if there is one. The multiplexer creates the channel while it gets the
    /// head of the request, and asks for these then (`open`).
    private var opening: (place: MemoryShare.Place, routed: RoutedRequest?)?

    /// - Parameters:
    ///   - peer: the other end of the connection.
    ///   - fastPath: `nil` if the router handles every request.
    ///   - places: the places of streams that have a channel.
    ///   - accessLog: `nil` if there is none.
    init(
        from peer: IPAddress?, _ fastPath: LoopFastPath?, connections: OpenConnections, places: MemoryShare, accessLog: AccessLog?
    ) {
        self.peer = peer
        owner = connections.identity.owner(ofConnectionFrom: peer)
        self.fastPath = fastPath
        self.connections = connections
        self.places = places
        self.accessLog = accessLog
    }

    /// - Parameter isTaking: whether the client takes the responses that it gets.
    func answer(_ request: StreamRequest, isTaking: Bool) -> Answer {
        var routed: RoutedRequest?
        // `RequestFields` has checked all fields; `SimpleRequest` takes three of them. NIO's codec reads them again for the router, which
        // wants them in another form.
        if request.isLast, isTaking, let simple = SimpleRequest(request.fields) {
            switch fastPath?.heads.answer(simple, since: request.begun) {
            case .answer(let response)?:
                log(request) {
                    $0.note(response.head.fields)
                    ($0.bytes, $0.duration) = (response.length, .now() - request.begun)
                }
                return .atOnce(response)
            case .route(let found)?: routed = found
            case nil: break
            }
        }
        guard let place = places.admit(owner) else {
            // A refused stream has no status. In the log it is what HTTP/1.1 clients get.
            log(request) { $0.status = 503 }
            connections.count(.memory)
            return .refused
        }
        opening = (place, routed)
        return .inChannel
    }

    /// Gives its place to the channel of the last request.
    /// - Returns: the parsed request, if there is one.
    func open(_ stream: any Channel) -> RoutedRequest? {
        guard let (place, routed) = opening else { return nil }
        opening = nil
        stream.closeFuture.whenComplete { _ in withExtendedLifetime(place) {} }
        return routed
    }

    /// Notes that the client has left before its request was looked at.
    func drop(_ request: StreamRequest) { log(request) { _ in } }

    /// - Parameter note: adds the known facts of the response.
    private func log(_ request: StreamRequest, _ note: (inout LoggedRequest) -> Void) {
        guard let accessLog else { return }
        var answered = LoggedRequest(head: .parsed(RequestFacts(request.fields)), peer: peer)
        note(&answered)
        accessLog.add(answered)
    }
}
