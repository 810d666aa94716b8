import OnesheetCore

/// The keys of clients in addresses for rating posters, which logs and errors leave out: `/{key}/imdb/poster-default/tt0137523.jpg`,
/// `/{key}/isValid`. A server without such addresses may still get requests for them.
enum ClientKeys {
    /// What follows the key at such servers, also what this one does not answer.
    private static let words = [
        "imdb", "tmdb", "tvdb", "anidb", "anilist", "kitsu", "mal", "trakt", "poster", "backdrop", "logo", "thumbnail", "isvalid",
        "requests", "submit",
    ]
    private static let kinds = ["poster", "backdrop", "logo", "episode", "season", "textless", "rating", "thumbnail"]

    /// A path, which may have a query, without the key at its beginning.
    static func left(outOf path: String) -> String {
        // `/sources/tmdb/titles` is the server's own.
        guard let (key, rest) = parts(of: path[...]), !key.isExactly("sources"), words.contains(word(in: rest)) else { return path }
        return "/…/\(rest)"
    }

    /// A path or URL without the key in it, wherever the address begins. Behind a proxy, that may be anywhere.
    static func left(outOfPage page: String) -> String {
        let path = left(outOf: page)
        guard path.isExactly(page) else { return path }
        var rest = page[...]
        while let start = rest.firstIndex(ofMark: "/") {
            rest = rest[start...]
            // `/t/p/w342/tmdb/…` has a size there.
            if let (_, address) = parts(of: rest), isAddress(address), !page[..<start].ends(withBytesOf: "/t/p") {
                return "\(page[..<start])/…/\(address)"
            }
            rest = rest.dropFirst(bytes: 1)
        }
        return page
    }

    private static func parts(of path: Substring) -> (key: Substring, rest: Substring)? {
        guard path.utf8.first == UInt8(ascii: "/"), let (key, rest) = path.dropFirst(bytes: 1).cut(at: "/"), !key.isEmpty else {
            return nil
        }
        return (key, rest)
    }

    /// Whether what follows a key is surely that of an address for rating posters, and not a source of this server and an id.
    private static func isAddress(_ rest: Substring) -> Bool {
        let first = word(in: rest)
        guard words.contains(first) else { return false }
        guard let (_, behind) = rest.cut(at: "/") else { return ["isvalid", "requests"].contains(first) }
        let kind = word(in: behind)
        return kinds.contains { kind.starts(withBytesOf: $0) }
    }

    private static func word(in rest: Substring) -> String {
        Substring(rest.utf8.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }).lowercasedASCII()
    }
}
