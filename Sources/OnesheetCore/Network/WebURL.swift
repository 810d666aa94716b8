/// An `http` or `https` URL in the parts that a policy looks at (RFC 3986). Stricter than the RFC: what clients and servers
/// are known to read differently is not a URL here.
public struct WebURL: Sendable, Hashable, CustomStringConvertible {
    public let scheme: String
    /// Lower case; an IPv6 address without its brackets.
    public let host: String
    public let port: Int
    /// From the first slash to before the query; at least `/`.
    public let path: String
    public let query: String?

    static let standardPorts = ["http": 80, "https": 443]

    /// Reads a URL; user information, control characters, spaces, backslashes and empty hosts are refused.
    public init?(_ text: String) {
        guard text.utf8.count <= 8192, let separator = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard let standardPort = Self.standardPorts[scheme] else { return nil }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }) else { return nil }
        // Bytes, because a combining mark after a delimiter would make it another character.
        let tail = text[separator.upperBound...]
        let rest = tail[..<(tail.utf8.firstIndex(of: UInt8(ascii: "#")) ?? tail.endIndex)]
        let end = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let authority = rest[..<end]
        guard let (host, port) = Self.hostAndPort(authority, standardPort: standardPort) else { return nil }
        let target = rest[end...]
        let question = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        let path = String(target[..<(question ?? target.endIndex)])
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path.isEmpty ? "/" : path
        self.query = question.map { String(target[target.utf8.index(after: $0)...]) }
    }

    private static func hostAndPort(_ authority: Substring, standardPort: Int) -> (String, Int)? {
        var host = authority
        var port = standardPort
        if authority.hasPrefix("[") {
            guard let close = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<close]
            let tail = authority[authority.index(after: close)...]
            guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
            if !tail.isEmpty {
                guard tail.hasPrefix(":"), let number = portNumber(tail.dropFirst()) else { return nil }
                port = number
            }
        } else {
            if let colon = authority.firstIndex(of: ":") {
                guard let number = portNumber(authority[authority.index(after: colon)...]) else { return nil }
                host = authority[..<colon]
                port = number
            }
            guard host.utf8.allSatisfy({ isHostByte($0) }) else { return nil }
        }
        guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
        return (host.lowercased(), port)
    }

    private static func portNumber(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            (1...65_535).contains(number)
        else { return nil }
        return number
    }

    /// Letters, digits, `-`, `.` and `_`: a name that is not ASCII has to come as Punycode.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }

    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let authority = port == Self.standardPorts[scheme] ? name : "\(name):\(port)"
        return "\(scheme)://\(authority)\(path)" + (query.map { "?\($0)" } ?? "")
    }

    /// The URL that a `Location` header names, seen from this one (RFC 3986 §5.2, without dot segments).
    public func resolving(_ reference: String) -> WebURL? {
        if reference.contains("://") { return WebURL(reference) }
        if reference.hasPrefix("//") { return WebURL("\(scheme):\(reference)") }
        let origin = description.prefix(description.count - path.count - (query.map { $0.count + 1 } ?? 0))
        if reference.hasPrefix("/") { return WebURL(origin + reference) }
        if reference.hasPrefix("?") { return WebURL(origin + path + reference) }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return WebURL(origin + folder + reference)
    }
}
