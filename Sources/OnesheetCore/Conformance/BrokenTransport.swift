internal import Synchronization

/// A network on which every request fails in the same way.
package final class BrokenTransport: HTTPTransport {
    typealias Responder = @Sendable (HTTPRequest) async throws(HTTPTransportError) -> HTTPAnswer

    private let count = Mutex(0)
    private let responder: Responder

    init(_ responder: @escaping Responder) { self.responder = responder }

    /// Requests so far.
    var requests: Int { count.withLock { $0 } }

    package func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        count.withLock { $0 += 1 }
        return try await responder(request)
    }
}
