package import NIOCore
package import NIOHTTP1
package import OnesheetCore

extension HTTPRequestHead {
    /// A request for `url`.
    /// - Parameters:
    ///   - body: the length of the body; `nil` if there is none.
    ///   - fields: headers that replace the default ones.
    package init(_ url: WebURL, method: HTTPMethod = .GET, body: Int? = nil, fields: [String: String]) {
        var headers = HTTPHeaders([
            ("Host", url.authority), ("User-Agent", "onesheet"), ("Accept", "*/*"), ("Accept-Encoding", "identity"),
        ])
        // A configuration must not change the framing of the request.
        let own: Set = ["connection", "content-length", "transfer-encoding", "upgrade", "expect", "te", "trailer"]
        for (name, value) in fields where !own.contains(name.lowercased()) { headers.replaceOrAdd(name: name, value: value) }
        if let body { headers.add(name: "Content-Length", value: "\(body)") }
        self.init(version: .http1_1, method: method, uri: url.target, headers: headers)
    }
}

extension WebURL {
    /// Host and port for a `Host` field (RFC 9110 §7.2).
    fileprivate var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == (scheme == "https" ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Path and query with all invalid bytes escaped (RFC 3986 §3.3, §3.4). Existing escapes stay.
    package var target: String {
        let bytes = Array((path + (query.map { "?" + $0 } ?? "")).utf8)
        var escaped: [UInt8] = []
        escaped.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && bytes[(index + 1)...].prefix(2).count { Character(Unicode.Scalar($0)).isHexDigit } == 2
            if isEscape || Self.isTargetByte(byte) {
                escaped.append(byte)
            } else {
                escaped += Array(PercentEncoding.encode(bytes: [byte]).utf8)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func isTargetByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~!$&'()*+,;=:@/?".utf8.contains(byte)
        }
    }
}

/// A scheme, a host and a port: the unit of connection reuse and of failures.
package struct OriginHost: Hashable, Sendable, CustomStringConvertible {
    package let scheme: String
    package let host: String
    package let port: Int

    package init(_ url: WebURL) {
        scheme = url.scheme
        host = url.host
        port = url.port
    }

    init(_ proxy: OriginProxy) {
        scheme = proxy.scheme.rawValue
        host = proxy.host
        port = proxy.port
    }

    package var description: String { "\(scheme)://\(host):\(port)" }
}

/// A request with the limits for its response.
package struct OriginOrder: Sendable {
    package var head: HTTPRequestHead
    package var body: ByteBuffer?
    package var bounds: ExchangeBounds
    /// The deadline of the complete response.
    package var deadline: NIODeadline
    /// Bytes of the body of the response.
    package var limit: Int
    /// Bytes of the body of a response that is neither 200 nor 206; `nil` is `limit`.
    package var errorLimit: Int?
    /// Counts the body of the response; `nil` if the caller has counted it.
    package var memory: MemoryReservation?
    /// Whether it is sent again, on a new connection, if an idle one ends before an answer.
    package var isRepeatable = true
    /// Called when the head of the response has arrived.
    package var onHead: @Sendable () -> Void = {}
    /// Whether the exchange may go on after some seconds without progress.
    package var mayStay: @Sendable (_ seconds: Double) -> Bool = { _ in true }

    package init(head: HTTPRequestHead, bounds: ExchangeBounds, deadline: NIODeadline, limit: Int) {
        self.head = head
        self.bounds = bounds
        self.deadline = deadline
        self.limit = limit
    }

    func limit(of status: HTTPResponseStatus) -> Int { status == .ok || status == .partialContent ? limit : errorLimit ?? limit }
}

/// The time limits of a response.
package struct ExchangeBounds: Sendable {
    /// The time for a connection, without TLS.
    package var connect: TimeAmount
    /// The time before the head.
    package var head: TimeAmount
    /// The time without a byte within the body.
    package var silence: TimeAmount
    /// The least average rate of a body in bytes per second. A slower one counts as silence.
    package var rate = 1024
    /// The time for which a slower body is tolerated.
    package var grace = TimeAmount.seconds(10)

    /// - Parameter silence: the time without a byte, wherever the exchange is.
    package init(silence: TimeAmount) {
        connect = silence
        head = silence
        self.silence = silence
    }
}

/// A complete response.
package struct OriginReply: Sendable {
    package let status: Int
    package let headers: HTTPHeaders
    package let body: ByteBuffer
    /// What counts the body.
    package let memory: MemoryReservation?
    /// Whether this is the last response on its connection, which cannot be reused.
    package let isLast: Bool

    package init(status: Int, headers: HTTPHeaders, body: ByteBuffer, memory: MemoryReservation?, isLast: Bool) {
        self.status = status
        self.headers = headers
        self.body = body
        self.memory = memory
        self.isLast = isLast
    }
}
