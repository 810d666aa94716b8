/// A URL for logs and responses: what anyone may read of it, shortened.
package func shown(_ url: String) -> String {
    let limit = 200
    let bytes = Substring(publicPart(of: url)).utf8
    guard bytes.count > limit else { return String(decoding: bytes, as: UTF8.self) }
    // Never cut within a character.
    var end = bytes.index(bytes.startIndex, offsetBy: limit)
    while bytes[end] & 0xC0 == 0x80 { end = bytes.index(before: end) }
    return String(decoding: bytes[..<end], as: UTF8.self) + "…"
}

/// A URL without its query, its fragment and the user before its host, which may hold keys.
package func publicPart(of url: String) -> String {
    let bytes = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let (scheme, rest) = text.cut(at: ":"), rest.utf8.starts(with: "//".utf8) else { return text }
    let (authority, path) = rest.dropFirst(bytes: 2).cut(at: "/") ?? (rest.dropFirst(bytes: 2), nil)
    guard let host = authority.cut(atLast: "@")?.after else { return text }
    return "\(scheme)://\(host)" + (path.map { "/\($0)" } ?? "")
}

/// The same for a parsed URL.
package func shown(_ url: WebURL) -> String { shown(url.description) }
