internal import OnesheetValues

/// Slashes in a row. Many proxies make one of them, in a URL in a path too: `plain/https:/host` was `plain/https://host`.
package enum MergedSlashes {
    /// The path with both slashes after the scheme of the URL in it. No path has a scheme with one slash for another reason.
    package static func restored(in path: Substring) -> Substring {
        var rest = path
        var isAfterPlain = false
        while let (segment, after) = rest.cut(at: "/") {
            let scheme = segment.ends(withBytesOf: ":") ? segment.cut(at: ":")?.before : nil
            if let scheme, isScheme(scheme) || (isAfterPlain && TitleReference.isSourceName(scheme)) {
                guard !after.isEmpty, !after.starts(withBytesOf: "/") else { return path }
                return "\(path[..<after.startIndex])/\(after)"
            }
            isAfterPlain = segment.isExactly("plain")
            rest = after
        }
        return path
    }

    /// The path with one slash where several are in a row, but for those of a URL.
    package static func merged(in path: Substring) -> Substring {
        guard path.starts(withBytesOf: "/") || path.firstRange(ofBytesOf: "//") != nil else { return path }
        var merged: [UInt8] = []
        var isInURL = false
        for byte in path.utf8 {
            let (slash, colon) = (UInt8(ascii: "/"), UInt8(ascii: ":"))
            if byte == slash, merged.last == slash, !isInURL, merged.dropLast().last != colon { continue }
            if byte == slash, merged.last == slash { isInURL = true }
            merged.append(byte)
        }
        // The prefix of the route has the slash before it.
        return String(decoding: merged.drop { $0 == UInt8(ascii: "/") }, as: UTF8.self)[...]
    }

    /// The path after `prefix`, with one slash where `path` has several in a row there and behind it; `nil` if it begins otherwise.
    package static func rest(of path: String, behind prefix: String) -> Substring? {
        var rest = path.utf8[...]
        for byte in prefix.utf8 {
            guard rest.popFirst() == byte else { return nil }
            if byte == UInt8(ascii: "/") { rest = rest.drop { $0 == byte } }
        }
        return Substring(rest)
    }

    private static func isScheme(_ text: Substring) -> Bool {
        ["http", "https"].contains(text.lowercasedASCII())
    }
}
