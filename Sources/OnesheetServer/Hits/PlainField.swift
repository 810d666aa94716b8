/// What a header field of a plain request means to the answer. Every other field makes a request not plain.
enum PlainField {
    case host, connection, accept, ifNoneMatch, ifModifiedSince
    /// Changes nothing in any answer of ours to a request for an image.
    case ignored

    private static let ignoredNames: [StaticString] = [
        "user-agent", "accept-encoding", "accept-language", "referer", "cookie", "dnt", "priority", "pragma", "cache-control",
        "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user", "sec-ch-ua", "sec-ch-ua-mobile",
        "sec-ch-ua-platform", "sec-gpc", "save-data", "via", "forwarded", "x-forwarded-for", "x-forwarded-proto",
        "x-forwarded-host", "x-real-ip", "x-request-id",
    ]

    /// - Parameter name: a field's name in any case.
    init?(_ name: Span<UInt8>) {
        switch name.count {
        case 4 where name.isName("host"): self = .host
        case 6 where name.isName("accept"): self = .accept
        case 10 where name.isName("connection"): self = .connection
        case 13 where name.isName("if-none-match"): self = .ifNoneMatch
        case 17 where name.isName("if-modified-since"): self = .ifModifiedSince
        default:
            guard Self.ignoredNames.contains(where: { name.isName($0) }) else { return nil }
            self = .ignored
        }
    }
}

extension Span<UInt8> {
    /// Whether `text` is what begins at `start`.
    func has(_ text: StaticString, at start: Int) -> Bool {
        guard count - start >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where self[start + index] != text.utf8Start[index] { return false }
        return true
    }

    /// Where the bytes end that `condition` holds for, from `start` on.
    func end(from start: Int, while condition: (UInt8) -> Bool) -> Int {
        var end = start
        while end < count, condition(self[end]) { end += 1 }
        return end
    }

    /// Whether this is `name`, which is in lower case, in any case.
    func isName(_ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        for index in 0..<count {
            let byte = self[index]
            let isCapital = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            guard (isCapital ? byte | 0x20 : byte) == name.utf8Start[index] else { return false }
        }
        return true
    }
}
