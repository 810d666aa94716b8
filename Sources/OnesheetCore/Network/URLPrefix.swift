/// A pattern for URLs: scheme, host (a leading `*.` stands for one or more labels), optional port (`:*` is any), and the start of a path.
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
        guard let separator = text.firstRange(of: "://") else { return nil }
        scheme = text[..<separator.lowerBound].lowercased()
        guard let standardPort = WebURL.standardPorts[scheme] else { return nil }
        let rest = text[separator.upperBound...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<slash].lowercased()
        path = slash == rest.endIndex ? "/" : String(rest[slash...])
        guard !path.contains("?"), !path.contains("#"), !authority.contains("@") else { return nil }
        if authority.hasSuffix(":*") {
            port = .any
            authority.removeLast(2)
        } else if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            guard let number = Int(authority[authority.index(after: colon)...]), (1...65_535).contains(number) else { return nil }
            port = .number(number)
            authority = String(authority[..<colon])
        } else {
            port = .number(standardPort)
        }
        isWildcard = authority.hasPrefix("*.")
        host = isWildcard ? String(authority.dropFirst(2)) : authority
        guard !host.isEmpty, !host.contains("*") else { return nil }
        description = text
    }

    /// Whether `url` begins as this pattern says.
    public func matches(_ url: WebURL) -> Bool {
        guard url.scheme == scheme else { return false }
        switch port {
        case .any: break
        case .number(let number): guard url.port == number else { return false }
        }
        guard isWildcard ? url.host.hasSuffix("." + host) : url.host == host else { return false }
        return url.path.hasPrefix(path) && !url.path.split(separator: "/").contains("..")
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
