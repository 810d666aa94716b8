/// A URL for logs and responses: without its query and fragment, which may hold keys, and shortened.
package func shown(_ url: String) -> String {
    let limit = 200
    let bytes = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard bytes.count > limit else { return String(decoding: bytes, as: UTF8.self) }
    // Never cut within a character.
    var end = bytes.index(bytes.startIndex, offsetBy: limit)
    while bytes[end] & 0xC0 == 0x80 { end = bytes.index(before: end) }
    return String(decoding: bytes[..<end], as: UTF8.self) + "…"
}

/// The same for a parsed URL.
package func shown(_ url: WebURL) -> String { shown(url.description) }
