internal import NIOCore
public import OnesheetCore
internal import Synchronization

/// Acts as services. A test sets the answer for each URL and inspects the requests afterwards.
///
/// Follows redirects and enforces the origin policy like the real transport, as far as possible without a network: checks an
/// address in a URL against `networks`, and treats a name as public and `localhost` as loopback.
public final class FakeTransport: HTTPTransport {
    /// Answers one request. Throws `HTTPTransportError` for a failed connection.
    public typealias Responder = @Sendable (HTTPRequest) async throws(HTTPTransportError) -> HTTPAnswer

    private struct Script {
        var routes: [(prefix: String, responder: Responder)] = []
        var faults: [HTTPTransportError] = []
        var requests: [HTTPRequest] = []
        var policies: [OriginPolicy] = []
    }

    private let script = Mutex(Script())

    public init() {}

    /// Answers all URLs that begin with `prefix`. The longest matching prefix counts, and of equals the latest.
    public func on(_ prefix: String, _ responder: @escaping Responder) {
        script.withLock { $0.routes.append((prefix, responder)) }
    }

    /// Answers all URLs that begin with `prefix` with the same text.
    public func on(_ prefix: String, status: Int = 200, type: String = "application/json", _ text: String) {
        on(prefix) { _ in HTTPAnswer(status: status, headers: ["content-type": type], body: ByteBuffer(string: text)) }
    }

    /// Answers all URLs that begin with `prefix` after the test opens the gate.
    public func hold(_ prefix: String, at gate: Gate, then responder: @escaping Responder) {
        on(prefix) { request async throws(HTTPTransportError) in
            do { try await gate.pass() } catch { throw .failed(url: request.url, reason: "cancelled") }
            return try await responder(request)
        }
    }

    /// Lets the next request fail with this error, whatever its URL. Further calls apply to the requests after it.
    public func failNext(_ error: HTTPTransportError) { script.withLock { $0.faults.append(error) } }

    /// All requests so far, including redirects, in order.
    public var requests: [HTTPRequest] { script.withLock { $0.requests } }

    /// The policies of these requests.
    public var policies: [OriginPolicy] { script.withLock { $0.policies } }

    /// The number of requests for URLs that begin with `prefix`.
    public func count(_ prefix: String = "") -> Int { requests.count { $0.url.hasPrefix(prefix) } }

    public func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        var request = request
        request.headers.merge(policy.headers) { own, _ in own }
        for _ in 0...5 {
            let url = try Self.admit(request.url, policy)
            let answer = try await step(request, policy)
            if (301...308).contains(answer.status), let location = answer.headers["location"] {
                guard let next = url.resolving(location) else { throw .invalidURL(location) }
                request.url = next.description
                continue
            }
            if let limit = policy.maxBytes, answer.body.readableBytes > limit { throw .tooLarge(url: request.url, limit: limit) }
            return answer
        }
        throw .tooManyRedirects(url: request.url)
    }

    private func step(_ request: HTTPRequest, _ policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        let (fault, responder) = script.withLock { script -> (HTTPTransportError?, Responder?) in
            script.requests.append(request)
            script.policies.append(policy)
            if !script.faults.isEmpty { return (script.faults.removeFirst(), nil) }
            let matching = script.routes.enumerated().filter { request.url.hasPrefix($0.element.prefix) }
            let best = matching.max { ($0.element.prefix.count, $0.offset) < ($1.element.prefix.count, $1.offset) }
            return (nil, best?.element.responder)
        }
        if let fault { throw fault }
        guard let responder else { throw .failed(url: request.url, reason: "the test has no answer for this URL") }
        return try await responder(request)
    }

    private static func admit(_ text: String, _ policy: OriginPolicy) throws(HTTPTransportError) -> WebURL {
        guard let url = WebURL(text) else { throw .invalidURL(text) }
        if let allow = policy.allow, !allow.contains(where: { $0.matches(url) }) {
            throw .forbidden(url: text, reason: "it begins with none of the allowed prefixes")
        }
        let address = url.host == "localhost" ? IPAddress("127.0.0.1") : IPAddress(url.host)
        let isAllowed =
            address.map { address in policy.networks.contains { $0.contains(address) } } ?? policy.networks.contains(.public)
        guard isAllowed else { throw .forbidden(url: text, reason: "its address is in none of the allowed networks") }
        return url
    }
}
