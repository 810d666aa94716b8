import NIOCore
import NIOHTTP1
import OnesheetCore
import OnesheetHTTP

extension HTTPRequestHead {
    /// A GET for `url`.
    /// - Parameter fields: sent besides our own, in whose place they come.
    init(_ url: WebURL, fields: [String: String]) {
        var headers = HTTPHeaders([
            ("Host", url.authority), ("User-Agent", "onesheet"), ("Accept", "*/*"), ("Accept-Encoding", "identity"),
        ])
        // How the request is framed is not for a configuration to say.
        let own: Set = ["connection", "content-length", "transfer-encoding", "upgrade", "expect", "te", "trailer"]
        for (name, value) in fields where !own.contains(name.lowercased()) { headers.replaceOrAdd(name: name, value: value) }
        self.init(version: .http1_1, method: .GET, uri: url.target, headers: headers)
    }
}

extension WebURL {
    /// Host and port as a `Host` field has them (RFC 9110 §7.2).
    fileprivate var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == (scheme == "https" ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Path and query with every byte escaped that may not stand there (RFC 3986 §3.3, §3.4); what is escaped already stays.
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

/// A scheme, a host and a port: the unit that shares connections and fails together.
struct OriginHost: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int

    init(_ url: WebURL) { (scheme, host, port) = (url.scheme, url.host, url.port) }
}

/// A request, and the limits of its answer.
struct OriginOrder: Sendable {
    let head: HTTPRequestHead
    let bounds: ExchangeBounds
    /// When the answer must be whole.
    let deadline: NIODeadline
    /// Bytes of the body.
    let limit: Int
    let budget: MemoryBudget
    let place: HostSlots.Place
}

/// The time limits of every answer.
struct ExchangeBounds: Sendable {
    /// How long an origin may be silent, before the head as well as in the middle.
    var silence: TimeAmount
    /// Bytes of a body that come in a second on average, or the origin is as good as silent.
    var rate = 1024
    /// How long a body is let come more slowly.
    var grace = TimeAmount.seconds(10)
}

/// A whole answer.
struct OriginReply: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: ByteBuffer
    /// The memory that the body occupies.
    let reservation: MemoryReservation
    /// Whether its connection can carry another request.
    let isLast: Bool
}
