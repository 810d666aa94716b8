import NIOCore
import NIOHTTP1
import OnesheetCore
import OnesheetHTTP

extension HTTPRequestHead {
    /// A GET for `url`.
    /// - Parameter fields: headers that replace the default ones.
    init(_ url: WebURL, fields: [String: String]) {
        var headers = HTTPHeaders([
            ("Host", url.authority), ("User-Agent", "onesheet"), ("Accept", "*/*"), ("Accept-Encoding", "identity"),
        ])
        // A configuration must not change the framing of the request.
        let own: Set = ["connection", "content-length", "transfer-encoding", "upgrade", "expect", "te", "trailer"]
        for (name, value) in fields where !own.contains(name.lowercased()) { headers.replaceOrAdd(name: name, value: value) }
        self.init(version: .http1_1, method: .GET, uri: url.target, headers: headers)
    }
}

extension WebURL {
    /// Host and port for a `Host` field (RFC 9110 §7.2).
    fileprivate var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == (scheme == "https" ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Path and query with all invalid bytes escaped (RFC 3986 §3.3, §3.4). Existing escapes stay.
    var target: String {
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
struct OriginHost: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int

    init(_ url: WebURL) {
        scheme = url.scheme
        host = url.host
        port = url.port
    }
}

/// A request with the limits for its response.
struct OriginOrder: Sendable {
    let head: HTTPRequestHead
    let bounds: ExchangeBounds
    /// The deadline of the complete response.
    let deadline: NIODeadline
    /// Bytes of the body.
    let limit: Int
    let budget: MemoryBudget
    let place: Slots<OriginHost>.Place
}

/// The time limits of every response.
struct ExchangeBounds: Sendable {
    /// The time without a byte, before the head or within the response.
    var silence: TimeAmount
    /// The least average rate of a body in bytes per second. A slower one counts as silence.
    var rate = 1024
    /// The time for which a slower body is tolerated.
    var grace = TimeAmount.seconds(10)
}

/// A complete response.
struct OriginReply: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: ByteBuffer
    /// The memory reservation for the body.
    let reservation: MemoryReservation
    /// Whether this is the last response on its connection, which cannot be reused.
    let isLast: Bool
}
