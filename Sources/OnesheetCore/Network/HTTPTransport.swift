public import NIOCore

/// How plugins and the pipeline speak HTTP to the outside. Tests put a service of their own in its place.
public protocol HTTPTransport: Sendable {
    /// Sends a GET and reads the whole answer, redirects followed, everything within `policy`.
    ///
    /// An answer with an error status is an answer, not an error: only its reader knows what it means.
    /// - Throws: `HTTPTransportError` where there is no whole answer.
    func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer
}

/// A GET to send.
public struct HTTPRequest: Sendable, Equatable {
    public var url: String
    /// Sent besides the policy's own.
    public var headers: [String: String]

    public init(url: String, headers: [String: String] = [:]) {
        (self.url, self.headers) = (url, headers)
    }
}

/// What came back.
public struct HTTPAnswer: Sendable, Equatable {
    public var status: Int
    /// Names in lower case; where a name came twice its values are joined with a comma (RFC 9110 §5.2).
    public var headers: [String: String]
    public var body: ByteBuffer

    public init(status: Int, headers: [String: String] = [:], body: ByteBuffer = ByteBuffer()) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

extension HTTPAnswer {
    /// Whether the body is what was asked for (RFC 9110 §15.3.1).
    public var isSuccess: Bool { status == 200 }
    /// Whether what the asker has is still good (RFC 9110 §15.4.5).
    public var isNotModified: Bool { status == 304 }
    /// Whether to ask elsewhere (RFC 9110 §15.4).
    public var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
    /// Whether the picture is not there and is not coming back by itself.
    public var isGone: Bool { status == 404 || status == 410 }
}

/// Why there is no whole answer.
public enum HTTPTransportError: Error, Sendable, Equatable {
    /// The policy does not allow the URL or the address behind it; `reason` says which rule.
    case forbidden(url: String, reason: String)
    /// The URL cannot be read as one.
    case invalidURL(String)
    case timedOut(url: String)
    /// More bytes than allowed.
    case tooLarge(url: String, limit: Int)
    case tooManyRedirects(url: String)
    /// The host has failed too often or has asked for a pause. No request is sent to it for `retryAfter` seconds.
    case unavailable(url: String, retryAfter: Int)
    /// The queue for the host is full. Room is likely after `retryAfter` seconds.
    case crowded(url: String, retryAfter: Int)
    /// There is no memory for the answer at the moment.
    case overloaded(url: String)
    /// No connection, or it broke.
    case failed(url: String, reason: String)
}

extension HTTPTransportError: CustomStringConvertible {
    /// The error in words that may be shown: without queries, and not long.
    public var description: String {
        switch self {
        case .forbidden(let url, let reason): "\(shown(url)) may not be fetched: \(reason)"
        case .invalidURL(let url): "“\(shown(url))” is not an http or https URL"
        case .timedOut(let url): "\(shown(url)) did not answer in time"
        case .tooLarge(let url, let limit): "\(shown(url)) sends more than \(limit) bytes"
        case .tooManyRedirects(let url): "\(shown(url)) redirects too often"
        case .crowded(let url, let seconds): "too many requests wait for the host of \(shown(url)); try again in \(seconds) s"
        case .overloaded(let url): "there is no memory to fetch \(shown(url)) at the moment; try again shortly"
        case .unavailable(let url, let seconds):
            "\(shown(url)) is left alone for \(seconds) s: its host failed too often or asked for it"
        case .failed(let url, let reason): "\(shown(url)) cannot be fetched: \(reason)"
        }
    }
}
