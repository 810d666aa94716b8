extension WebURL {
    /// The URL that a `Location` header names, seen from this one (RFC 3986 §5.2, without dot segments).
    public func resolving(_ reference: String) -> WebURL? {
        if Self.hasScheme(reference) { return WebURL(reference) }
        if reference.starts(withBytesOf: "//") { return WebURL("\(scheme):\(reference)") }
        if reference.starts(withBytesOf: "/") { return WebURL(origin + reference) }
        if reference.starts(withBytesOf: "?") { return WebURL(origin + path + reference) }
        let folder = path[..<(path.lastIndex(ofMark: "/").map { path.utf8.index(after: $0) } ?? path.startIndex)]
        return WebURL(origin + folder + reference)
    }

    /// Whether `reference` is a whole URL: a scheme before its first colon (RFC 3986 §3.1). A URL in its query does not make it one.
    private static func hasScheme(_ reference: String) -> Bool {
        guard let scheme = reference.cut(at: ":")?.before, let first = scheme.utf8.first, isLetter(first) else { return false }
        return scheme.utf8.allSatisfy {
            isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
