/// A pattern for URLs: scheme, host (a leading `*.` stands for one or more labels), optional port (`:*` is any), and the first
/// segments of a path.
public struct URLPrefix: Sendable, Hashable, CustomStringConvertible {
    enum Port: Hashable {
        case number(Int)
        case any
    }

    public let description: String
    let scheme: String
    let host: String
    let isWildcard: Bool
    let port: Port
    let path: String

    /// Reads a pattern such as `https://*.cdn.example.com:8443/posters/`.
    public init?(_ text: String) {
        guard let separator = text.firstRange(ofBytesOf: "://") else { return nil }
        scheme = text[..<separator.lowerBound].lowercasedASCII()
        guard let standardPort = WebURL.standardPorts[scheme] else { return nil }
        let rest = text[separator.upperBound...]
        let slash = rest.firstIndex(ofMark: "/") ?? rest.endIndex
        var authority = rest[..<slash]
        // Encoded as in a URL, so that both are spelled alike.
        path = slash == rest.endIndex ? "/" : WebURL.encoded(rest[slash...])
        guard !path.contains(mark: "?"), !path.contains(mark: "#"), !authority.contains(mark: "@") else { return nil }
        if authority.ends(withBytesOf: ":*") {
            port = .any
            authority = authority.cut(atLast: ":")?.before ?? authority
        } else if let (name, digits) = authority.cut(atLast: ":"), !authority.ends(withBytesOf: "]") {
            guard let number = Int(digits), (1...65_535).contains(number) else { return nil }
            port = .number(number)
            authority = name
        } else {
            port = .number(standardPort)
        }
        isWildcard = authority.starts(withBytesOf: "*.")
        // Parsed like a URL, so that both have the same spelling and a pattern that no URL can match is rejected.
        guard let plain = WebURL("\(scheme)://\(isWildcard ? authority.dropFirst(bytes: 2) : authority)/"),
            plain.path.isExactly("/")
        else { return nil }
        host = plain.host
        guard !isWildcard || IPAddress(host) == nil else { return nil }
        description = text
    }

    /// Whether it matches exactly one host and port, so that the operator chose both.
    package var isForOneHost: Bool { !isWildcard && port != .any }

    /// Whether `url` matches this pattern.
    public func matches(_ url: WebURL) -> Bool {
        guard url.scheme == scheme else { return false }
        switch port {
        case .any: break
        case .number(let number): guard url.port == number else { return false }
        }
        guard isWildcard ? url.host.ends(withBytesOf: "." + host) : url.host.isExactly(host) else { return false }
        return isAtPath(url.path) && !Self.climbs(url.path)
    }

    /// Whether `other` is this pattern's path or below it. Compares whole segments: `/posters` does not match `/posters-old`.
    private func isAtPath(_ other: String) -> Bool {
        // Bytes, because Swift compares text by character: a combining mark after a slash would hide the slash.
        let (prefix, other) = (path.utf8, other.utf8)
        guard other.starts(with: prefix) else { return false }
        let rest = other.dropFirst(prefix.count)
        return prefix.last == UInt8(ascii: "/") || rest.isEmpty || rest.first == UInt8(ascii: "/")
    }

    /// Whether a segment of `path` is `..`. Includes escaped forms, which many servers decode first.
    private static func climbs(_ path: String) -> Bool {
        let (dot, slash) = (UInt8(ascii: "."), UInt8(ascii: "/"))
        var rest = Substring(path).utf8
        // Of the present segment; `nil` if it has other bytes too.
        var dots: Int? = 0
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let mark = mark(escapedBy: rest.prefix(2)) {
                rest = rest.dropFirst(2)
                byte = mark
            }
            if byte == slash {
                if dots == 2 { return true }
                dots = 0
            } else {
                dots = byte == dot ? dots.map { $0 + 1 } : nil
            }
        }
        return dots == 2
    }

    /// The dot or slash with these two digits.
    private static func mark(escapedBy digits: Substring.UTF8View) -> UInt8? {
        guard let first = digits.first, let last = digits.last.map({ $0 | 0x20 }) else { return nil }
        return switch (first, last) {
        case (UInt8(ascii: "2"), UInt8(ascii: "e")): UInt8(ascii: ".")
        // Many servers take a backslash as a slash.
        case (UInt8(ascii: "2"), UInt8(ascii: "f")), (UInt8(ascii: "5"), UInt8(ascii: "c")): UInt8(ascii: "/")
        default: nil
        }
    }
}

extension URLPrefix: Decodable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let prefix = URLPrefix(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "“\(text)” is not a URL prefix such as https://*.example.com/posters/")
        }
        self = prefix
    }
}
