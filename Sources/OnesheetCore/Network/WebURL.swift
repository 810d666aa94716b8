/// A parsed `http` or `https` URL (RFC 3986). Stricter than the RFC: it rejects forms that clients and servers are known to parse
/// differently. URLs are compared by their bytes.
public struct WebURL: Sendable, Hashable, CustomStringConvertible {
    public let scheme: String
    /// Lower case, names beyond ASCII in Punycode; IPv6 addresses have no brackets.
    public let host: String
    public let port: Int
    /// From the first slash up to the query; at least `/`. Spaces and letters beyond ASCII are percent-encoded, as in the query.
    public private(set) var path: String
    public let query: String?

    static let standardPorts = ["http": 80, "https": 443]

    /// Parses a URL. Rejects user information, control characters, backslashes, empty hosts, and spaces before the path.
    public init?(_ text: String) {
        guard text.utf8.count <= 8192, let separator = text.firstRange(ofBytesOf: "://") else { return nil }
        let scheme = text[..<separator.lowerBound].lowercasedASCII()
        guard let standardPort = Self.standardPorts[scheme] else { return nil }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }) else { return nil }
        // Bytes, because a combining mark after a delimiter forms another character.
        let tail = text[separator.upperBound...]
        let rest = tail[..<(tail.utf8.firstIndex(of: UInt8(ascii: "#")) ?? tail.endIndex)]
        let end = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let authority = rest[..<end]
        guard let (host, port) = Self.hostAndPort(authority, standardPort: standardPort) else { return nil }
        let target = rest[end...]
        let question = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        let path = Self.encoded(target[..<(question ?? target.endIndex)])
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path.isEmpty ? "/" : path
        self.query = question.map { Self.encoded(target[target.utf8.index(after: $0)...]) }
    }

    /// Percent-encodes what people write into URLs and no request can carry: spaces and bytes beyond ASCII.
    static func encoded(_ text: Substring) -> String {
        func isRaw(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x80 }
        guard text.utf8.contains(where: isRaw) else { return String(text) }
        return text.utf8.reduce(into: "") { encoded, byte in
            encoded += isRaw(byte) ? PercentEncoding.encode(bytes: [byte]) : String(UnicodeScalar(byte))
        }
    }

    private static func hostAndPort(_ authority: Substring, standardPort: Int) -> (String, Int)? {
        var host = authority
        var port = standardPort
        if authority.starts(withBytesOf: "[") {
            guard let (inner, tail) = authority.dropFirst(bytes: 1).cut(at: "]") else { return nil }
            host = inner
            guard host.contains(mark: ":"), host.utf8.allSatisfy({ isAddressByte($0) }) else { return nil }
            if !tail.isEmpty {
                guard tail.starts(withBytesOf: ":"), let number = portNumber(tail.dropFirst(bytes: 1)) else { return nil }
                port = number
            }
        } else {
            if let (name, digits) = authority.cut(at: ":") {
                guard let number = portNumber(digits) else { return nil }
                host = name
                port = number
            }
            if host.utf8.contains(where: { $0 >= 0x80 }) {
                guard let ascii = HostName.ascii(host) else { return nil }
                host = ascii[...]
            }
            guard host.utf8.allSatisfy({ isHostByte($0) }) else { return nil }
        }
        guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
        return (host.lowercasedASCII(), port)
    }

    private static func portNumber(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            (1...65_535).contains(number)
        else { return nil }
        return number
    }

    /// ASCII hexadecimal digits, colons and periods: an IPv6 address.
    private static func isAddressByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66, UInt8(ascii: ":"), UInt8(ascii: "."): true
        default: false
        }
    }

    /// ASCII letters, digits, `-`, `.` and `_`.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }

    public var description: String { origin + path + (query.map { "?\($0)" } ?? "") }

    /// Scheme, host and port (RFC 6454), without a default port.
    var origin: String {
        let name = host.contains(mark: ":") ? "[\(host)]" : host
        return "\(scheme)://" + (port == Self.standardPorts[scheme] ? name : "\(name):\(port)")
    }

    public static func == (left: Self, right: Self) -> Bool { left.description.isExactly(right.description) }
    public func hash(into hasher: inout Hasher) { hasher.combine(exactly: description) }
}

extension WebURL {
    /// The target of a `Location` header, resolved against this URL (RFC 3986 §5.2).
    public func resolving(_ reference: String) -> WebURL? {
        // No fragment is requested, and a reference may be nothing else.
        let reference = String(reference.cut(at: "#")?.before ?? reference[...])
        var target: WebURL?
        if Self.hasScheme(reference) {
            target = WebURL(reference)
        } else if reference.starts(withBytesOf: "//") {
            target = WebURL("\(scheme):\(reference)")
        } else if reference.starts(withBytesOf: "/") {
            target = WebURL(origin + reference)
        } else if reference.isEmpty || reference.starts(withBytesOf: "?") {
            target = reference.isEmpty ? self : WebURL(origin + path + reference)
        } else {
            let folder = path[..<(path.lastIndex(ofMark: "/").map { path.utf8.index(after: $0) } ?? path.startIndex)]
            target = WebURL(origin + folder + reference)
        }
        target?.removeDotSegments()
        return target
    }

    /// Removes the segments `.` and `..` (RFC 3986 §5.2.4), also where their dots are escaped, as browsers do.
    private mutating func removeDotSegments() {
        guard path.contains(mark: ".") || path.contains(mark: "%") else { return }
        let segments = path.dropFirst(bytes: 1).pieces(at: "/", omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            let dots = Self.dots(segment)
            if dots == 2 { _ = kept.popLast() }
            if dots == 0 { kept.append(segment) } else if index == segments.count - 1 { kept.append("") }
        }
        path = "/" + kept.joined(separator: "/")
    }

    /// The number of dots of a segment that has nothing else, if it is one or two; otherwise 0.
    private static func dots(_ segment: Substring) -> Int {
        switch segment.lowercasedASCII() {
        case ".", "%2e": 1
        case "..", ".%2e", "%2e.", "%2e%2e": 2
        default: 0
        }
    }

    /// Whether `reference` is absolute: it has a scheme before its first colon (RFC 3986 §3.1). A URL in its query does not count.
    private static func hasScheme(_ reference: String) -> Bool {
        guard let scheme = reference.cut(at: ":")?.before, let first = scheme.utf8.first, isLetter(first) else { return false }
        return scheme.utf8.allSatisfy {
            isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
