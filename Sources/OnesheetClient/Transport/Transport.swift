/// Sends the requests of a `PosterServer`. `URLSessionTransport` is the usual one; a test, or a program with an HTTP client of its own,
/// brings another.
public protocol Transport: Sendable {
    /// Sends a request, and passes the response on as it arrives: once its head, then each piece of the body. Returns after the last
    /// piece.
    ///
    /// It does not follow redirects, because the request may carry a token. It ends soon after its task is cancelled; the client does
    /// that at the deadline.
    /// - Parameter receive: handles a part of the response. If it throws, the transport ends the request and throws the same error.
    /// - Throws: any error. The client reports one of the transport's own as `ClientError.unreachable`.
    func send(
        _ request: TransportRequest, _ receive: @Sendable (TransportPart) async throws(ClientError) -> Void
    ) async throws
}

/// A request for a `Transport`.
public struct TransportRequest: Sendable, Equatable {
    /// `GET`, `POST` or `DELETE`.
    public let method: String
    /// The whole URL, percent-encoded.
    public let url: String
    /// Header fields by name.
    public let fields: [String: String]
    public let body: [UInt8]?

    public init(method: String = "GET", url: String, fields: [String: String] = [:], body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}

/// Without the header fields and the body, because one of the fields may be a token.
extension TransportRequest: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(method) \(url)" }
    public var customMirror: Mirror { Mirror(self, children: ["method": method, "url": url]) }
}

/// A part of a response.
public enum TransportPart: Sendable, Equatable {
    /// The status code, and the header fields by name, in any spelling.
    case head(status: Int, fields: [String: String])
    /// The next bytes of the body, unpacked if they were compressed.
    case bytes([UInt8])
}
