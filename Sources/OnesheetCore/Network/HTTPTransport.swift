package import FoundationEssentials
public import NIOCore

/// The outgoing HTTP of plugins and the pipeline. Tests replace it with a service of their own.
public protocol HTTPTransport: Sendable {
    /// Sends the request and returns the whole response, within `policy`. Follows the redirects of a GET; those of a POST are returned.
    ///
    /// A response with an error status is returned and not thrown, because only the caller knows its meaning.
    /// - Throws: `HTTPTransportError` if there is no complete response.
    func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer
}

/// A GET to send, or a POST that only asks: it may be sent again after a failure.
public struct HTTPRequest: Sendable, Equatable {
    public var url: String
    /// Headers in addition to those of the policy.
    public var headers: [String: String]
    /// The body of a POST; `nil` sends a GET.
    public var body: ByteBuffer?
    /// Whether the answer has a secret, such as a token. A recording has it without its texts.
    public var hasSecretAnswer: Bool

    public init(url: String, headers: [String: String] = [:], body: ByteBuffer? = nil, hasSecretAnswer: Bool = false) {
        self.url = url
        self.headers = headers
        self.body = body
        self.hasSecretAnswer = hasSecretAnswer
    }
}

/// A response.
public struct HTTPAnswer: Sendable, Equatable {
    public var status: Int
    /// Names in lower case. Equal repeated fields are one, and others are joined with a comma (RFC 9110 §5.2).
    public var headers: [String: String]
    public var body: ByteBuffer
    /// The header fields of the redirects that led to it.
    package var redirects: [[String: String]] = []
    /// The memory reserved for the body; `nil` if none is reserved.
    package var memory: MemoryReservation?

    public init(status: Int, headers: [String: String] = [:], body: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Whether status, headers, body and redirects are equal.
    public static func == (left: HTTPAnswer, right: HTTPAnswer) -> Bool {
        left.status == right.status && left.headers == right.headers && left.body == right.body && left.redirects == right.redirects
    }
}

extension HTTPAnswer {
    /// Whether the body is what was asked for: 200, or 203 from a proxy that has changed it (RFC 9110 §15.3.1, §15.3.4).
    public var isSuccess: Bool { status == 200 || status == 203 }
    /// Whether the stored copy is still valid: 304 (RFC 9110 §15.4.5).
    public var isNotModified: Bool { status == 304 }
    /// Whether the status redirects (RFC 9110 §15.4).
    public var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }

    /// Seconds of `Retry-After`, if the host sends it (RFC 9110 §10.2.3).
    package func retryAfter(at now: Date) -> Double? {
        guard let text = headers["retry-after"] else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil } ?? HTTPDate.parse(text, now: now)?.timeIntervalSince(now)
    }

    /// Whole seconds of `Retry-After`, at least one.
    package func pause(at now: Date) -> Int? { retryAfter(at: now).map { max(Int(saturating: $0.rounded(.up)), 1) } }
}

/// The reason for which there is no complete response.
public enum HTTPTransportError: Error, Sendable, Equatable {
    /// The policy does not allow the URL or its address; `reason` names the rule.
    case forbidden(url: String, reason: String)
    /// The URL is invalid.
    case invalidURL(String)
    case timedOut(url: String)
    /// The response is larger than allowed.
    case tooLarge(url: String, limit: Int)
    case tooManyRedirects(url: String)
    /// The host has failed too often or asked for a pause. No request is sent to it for `retryAfter` seconds.
    case unavailable(url: String, retryAfter: Int)
    /// The queue for the host is full. Room is likely after `retryAfter` seconds.
    case crowded(url: String, retryAfter: Int)
    /// There is no memory for the response at the moment.
    case overloaded(url: String)
    /// The connection could not be made, or it broke.
    case failed(url: String, reason: String)
}

extension HTTPTransportError: CustomStringConvertible {
    /// A short description with the URL but its query, for those who may know the host.
    public var description: String { "\(shown(url)) \(words)" }

    private var url: String {
        switch self {
        case .forbidden(let url, _), .invalidURL(let url), .timedOut(let url), .tooLarge(let url, _), .tooManyRedirects(let url),
            .unavailable(let url, _), .crowded(let url, _), .overloaded(let url), .failed(let url, _):
            url
        }
    }

    /// What is said of the URL, for visitors: the host of a service may have a private name.
    package var words: String {
        switch self {
        case .forbidden(_, let reason): "may not be fetched: \(reason)"
        case .invalidURL: "is not an http or https URL"
        case .timedOut: "did not answer in time"
        case .tooLarge(_, let limit): "sends more than \(limit) bytes"
        case .tooManyRedirects: "redirects too often"
        case .unavailable(_, let seconds): "is paused for \(seconds) s: its host failed too often or asked for a pause"
        case .crowded(_, let seconds): "has too many requests waiting for its host; try again in \(seconds) s"
        case .overloaded: "cannot be fetched for lack of memory at the moment; try again shortly"
        case .failed(_, let reason): "cannot be fetched: \(reason)"
        }
    }

    /// The URL of the failure without its query, for the log, the commands and the administrator.
    fileprivate var place: String { shown(url) }

    /// The origin of the URL.
    package var origin: String { WebURL(url)?.origin ?? "a URL" }
}

extension Failure {
    /// The original could not be fetched.
    package static func origin(_ error: HTTPTransportError) -> Failure {
        func failure(
            _ title: String, by blame: Blame = .origin, status: Status, retry: Retry = .unknown, traits: Traits
        ) -> Failure {
            Failure(
                blame: blame, status: status, title: title, message: "the original \(error.words)", details: error.place,
                retry: retry,
                memory: Memory(image: 2), traits: traits)
        }
        return switch error {
        // This server's rules have changed, so there will be no answer.
        case .forbidden, .invalidURL: failure("Forbidden", by: .request, status: .forbidden, traits: [])
        case .timedOut: failure("Origin too slow", status: .tooSlow, traits: [.allowsStale, .keepsChoice])
        case .tooLarge: failure("Original too large", by: .image, status: .tooLarge, traits: .allowsStale)
        case .unavailable(_, let seconds):
            failure("Origin unavailable", status: .unavailable, retry: .after(seconds), traits: [.allowsStale, .keepsChoice])
        case .tooManyRedirects: failure("Origin failed", status: .badGateway, traits: .allowsStale)
        case .failed: failure("Origin failed", status: .badGateway, traits: [.allowsStale, .keepsChoice])
        case .crowded(_, let seconds): .overloaded(retryAfter: seconds)
        case .overloaded: .overloaded(retryAfter: 1)
        }
    }
}
