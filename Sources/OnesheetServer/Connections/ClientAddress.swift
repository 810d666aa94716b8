import HTTPTypes
import NIOCore
import OnesheetCore
import OnesheetHTTP

/// What clients are told apart by: an IPv4 address, or the /64 of an IPv6 address, which is what one customer has.
struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ address: IPAddress) {
        bytes = address.unmapped.bytes.count == 4 ? address.unmapped.bytes : Array(address.bytes.prefix(8))
    }
}

/// Finds out who a client is, also behind proxies.
struct ClientIdentity: Sendable {
    /// Proxies whose word about their clients is taken.
    let trustedProxies: [NetworkRange]

    /// Whether `address` is a proxy's that is trusted.
    func isTrusted(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }

    /// Whom a connection from `peer` is counted for; `nil` if it is nobody's share: a trusted proxy has the connections of many.
    /// - Parameter peer: `nil` on a Unix socket, at whose other end is a program of this machine.
    func owner(ofConnectionFrom peer: IPAddress?) -> ClientAddress? {
        guard let peer, !isTrusted(peer) else { return nil }
        return ClientAddress(peer)
    }

    /// Whom a request is counted for; `nil` if it is nobody's share: it comes from a trusted proxy that does not say for whom.
    /// - Parameters:
    ///   - peer: `nil` on a Unix socket.
    ///   - fields: the request's. They count only if a trusted proxy sent them: `X-Forwarded-For`, or without one `Forwarded` (RFC 7239).
    func owner(ofRequestFrom peer: IPAddress?, _ fields: HTTPFields) -> ClientAddress? {
        if let peer, !isTrusted(peer) { return ClientAddress(peer) }
        var last: IPAddress?
        // Each proxy adds whom it talks to at the end. From the first hop on that is not trusted, anybody may have written the rest.
        for hop in Self.hops(fields).reversed() {
            guard let address = Self.address(hop) else { break }
            last = address
            if !isTrusted(address) { break }
        }
        return last.map(ClientAddress.init)
    }

    /// More proxies than this are in front of nobody.
    private static let mostHops = 32

    private static func hops(_ fields: HTTPFields) -> [Substring] {
        if let list = fields[.forwardedFor] { return Array(list.split(separator: ",").suffix(mostHops)) }
        guard let list = fields[.forwarded] else { return [] }
        return list.split(separator: ",").suffix(mostHops).map { element in
            let pair = element.split(separator: ";").map { $0.drop { $0 == " " || $0 == "\t" } }.first {
                $0.lowercased().hasPrefix("for=")
            }
            return pair?.dropFirst("for=".count) ?? ""
        }
    }

    /// Reads `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` and `"[2001:db8::1]:4711"`.
    private static func address(_ text: Substring) -> IPAddress? {
        var text = text.drop { $0 == " " || $0 == "\t" || $0 == "\"" }
        while let last = text.last, last == " " || last == "\t" || last == "\"" { text.removeLast() }
        if text.first == "[" {
            return text.firstIndex(of: "]").flatMap { IPAddress(String(text[text.index(after: text.startIndex)..<$0])) }
        }
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        return IPAddress(String(colons == 1 ? text.prefix { $0 != ":" } : text))
    }
}

extension IPAddress {
    /// An IPv4-mapped address (RFC 4291 §2.5.5.2) as the IPv4 address that it is.
    fileprivate var unmapped: IPAddress {
        guard bytes.count == 16, bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF else { return self }
        return IPAddress(bytes: Array(bytes[12...]))
    }
}

extension SocketAddress {
    /// `nil` for a Unix socket's.
    var address: IPAddress? { ipAddress.flatMap { IPAddress(String($0.prefix { $0 != "%" })) } }
}
