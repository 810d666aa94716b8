import HTTPTypes
import NIOCore
import OnesheetCore
import OnesheetHTTP
import OnesheetPipeline

/// The address that a client's limits apply to: an IPv4 address, or the /64 of an IPv6 address, which is the usual assignment to
/// one customer.
struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ address: IPAddress) {
        bytes = address.unmapped.bytes.count == 4 ? address.unmapped.bytes : Array(address.bytes.prefix(8))
    }

    /// The key of the client's turns.
    var key: ClientKey { ClientKey(bytes) }
}

/// Determines a client's address, also behind proxies.
struct ClientIdentity: Sendable {
    /// Proxies whose `X-Forwarded-For` or `Forwarded` is trusted.
    let trustedProxies: [NetworkRange]

    /// Whether `address` belongs to a trusted proxy.
    func isTrusted(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }

    /// The address that a connection from `peer` counts for. `nil` for a trusted proxy, which carries the connections of many
    /// clients.
    /// - Parameter peer: `nil` on a Unix socket, whose peer is a local program.
    func owner(ofConnectionFrom peer: IPAddress?) -> ClientAddress? {
        guard let peer, !isTrusted(peer) else { return nil }
        return ClientAddress(peer)
    }

    /// The address that a request counts for. `nil` if a trusted proxy does not name the client.
    /// - Parameters:
    ///   - peer: `nil` on a Unix socket.
    ///   - fields: the request's header fields. Only those of a trusted proxy count: `X-Forwarded-For`, or else `Forwarded` (RFC
    ///     7239).
    func owner(ofRequestFrom peer: IPAddress?, _ fields: HTTPFields) -> ClientAddress? {
        client(ofRequestFrom: peer, forwardedFor: fields[.forwardedFor], forwarded: fields[.forwarded]).map(ClientAddress.init)
    }

    /// The address of a request's client. `nil` if a trusted proxy does not name the client.
    /// - Parameters:
    ///   - peer: `nil` on a Unix socket.
    ///   - forwardedFor: `X-Forwarded-For`.
    ///   - forwarded: `Forwarded`.
    func client(ofRequestFrom peer: IPAddress?, forwardedFor: String?, forwarded: String?) -> IPAddress? {
        if let peer, !isTrusted(peer) { return peer.unmapped }
        var last: IPAddress?
        // Each proxy appends the address of its peer. Read from the end and stop at the first untrusted hop: the client may have
        // forged the rest.
        for hop in Self.hops(forwardedFor, forwarded).reversed() {
            guard let address = Self.address(hop) else { break }
            last = address
            if !isTrusted(address) { break }
        }
        return last?.unmapped
    }

    /// The maximum number of proxies that are evaluated.
    private static let maxHops = 32

    private static func hops(_ forwardedFor: String?, _ forwarded: String?) -> [Substring] {
        if let list = forwardedFor { return Array(list.pieces(at: ",").suffix(maxHops)) }
        guard let list = forwarded else { return [] }
        return list.pieces(at: ",").suffix(maxHops).map { element in
            let pair = element.pieces(at: ";").map(trimmed).first { $0.lowercasedASCII().starts(withBytesOf: "for=") }
            return pair?.dropFirst(bytes: "for=".utf8.count) ?? ""
        }
    }

    /// Reads `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` and `"[2001:db8::1]:4711"`.
    private static func address(_ text: Substring) -> IPAddress? {
        let text = trimmed(text)
        if text.starts(withBytesOf: "[") {
            return text.firstIndex(ofMark: "]").flatMap { IPAddress(String(text[text.utf8.index(after: text.startIndex)..<$0])) }
        }
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        return IPAddress(String(colons == 1 ? text.cut(at: ":")?.before ?? text : text))
    }

    /// Without blanks and quotes at the ends.
    private static func trimmed(_ text: Substring) -> Substring {
        func isEdge(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == 0x09 || byte == UInt8(ascii: "\"") }
        var bytes = text.utf8.drop(while: isEdge)
        while let last = bytes.last, isEdge(last) { bytes.removeLast() }
        return Substring(bytes)
    }
}

extension IPAddress {
    /// Converts an IPv4-mapped address (RFC 4291 §2.5.5.2) to IPv4.
    fileprivate var unmapped: IPAddress {
        guard bytes.count == 16, bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF else { return self }
        return IPAddress(bytes: Array(bytes[12...]))
    }
}

extension SocketAddress {
    /// The IP address. `nil` for a Unix socket.
    var address: IPAddress? { ipAddress.flatMap { IPAddress(String($0.prefix { $0 != "%" })) } }
}
