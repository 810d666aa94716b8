import OnesheetCore
import OnesheetCrypto

/// The keys of clients in addresses for rating posters, which logs and errors leave out: `/{key}/imdb/poster-default/tt0137523.jpg`,
/// `/{key}/isValid`. A server without such addresses may still get requests for them.
///
/// Any key is left out of an address of a known form. One of the configuration is left out of every text, because an address may be mistyped.
struct ClientKeys: Sendable {
    private let digests: [Digest]
    private let lengths: Set<Int>

    /// - Parameter keys: those of the configuration.
    init(_ keys: [String] = []) {
        digests = keys.map { SHA256.hash($0.utf8) }
        lengths = Set(keys.map(\.utf8.count))
    }

    /// A path for logs and errors, without keys and without the query of a URL in it.
    func shown(request path: String) -> String { left(outOf: OnesheetServer.shown(request: path)) }

    /// A text without the keys of the configuration.
    func left(outOf text: String) -> String {
        guard !lengths.isEmpty else { return text }
        var (shown, rest) = ("", text[...])
        while let start = rest.utf8.firstIndex(where: Self.isInKey) {
            let end = rest[start...].utf8.firstIndex { !Self.isInKey($0) } ?? rest.endIndex
            shown += rest[..<start]
            let word = String(rest[start..<end])
            rest = rest[end...]
            // The text may have been shortened within a key. Every such word is left out: clients read errors, and could try how a key begins.
            if !rest.starts(withBytesOf: "…") { shown += hasKey(word) ? "…" : word }
        }
        return shown + rest
    }

    /// A key has unreserved characters, which may be percent-encoded, also in an address within a query.
    private static func isInKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_.~%".utf8.contains(byte)
        }
    }

    private static let mostEncodings = 3

    /// Whether a word is a key, or is percent-encoded and has one.
    private func hasKey(_ word: String) -> Bool {
        var bytes = Array(word.utf8)
        for _ in 0..<Self.mostEncodings where bytes.contains(UInt8(ascii: "%")) { bytes = Self.decoded(bytes) }
        return bytes.split { !Self.isInKey($0) || $0 == UInt8(ascii: "%") }.contains { part in
            // A key may have dots, and may be mistyped as the name of a file.
            isKey(part) || part.lastIndex(of: UInt8(ascii: ".")).map { isKey(part[..<$0]) } ?? false
        }
    }

    /// The bytes without percent-encoding. What is none stays.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var (decoded, rest) = ([UInt8](), bytes[...])
        while let byte = rest.popFirst() {
            let digits = byte == UInt8(ascii: "%") ? rest.prefix(2) : []
            if digits.count == 2, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }

    private func isKey(_ text: ArraySlice<UInt8>) -> Bool {
        guard lengths.contains(text.count) else { return false }
        let digest = SHA256.hash(text)
        return digests.contains { $0 == digest }
    }

    /// What follows the key at such servers, also what this one does not answer.
    private static let words = [
        "imdb", "tmdb", "tvdb", "anidb", "anilist", "kitsu", "mal", "trakt", "poster", "backdrop", "logo", "thumbnail", "isvalid",
        "requests", "submit",
    ]
    private static let kinds = ["poster", "backdrop", "logo", "episode", "season", "textless", "rating", "thumbnail"]

    /// A path, which may have a query, without the key at its beginning.
    private static func left(outOfStart path: String) -> String {
        if let rest = restOfForeignKey(path) { return "/…\(rest)" }
        // `/sources/tmdb/titles` is the server's own.
        guard let (key, rest) = parts(of: path[...]), !key.isExactly("sources"), words.contains(word(in: rest)) else { return path }
        return "/…/\(rest)"
    }

    /// A path or URL without the key in it, wherever the address begins. Behind a proxy, that may be anywhere.
    static func left(outOfPage page: String) -> String {
        let path = left(outOfStart: page)
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

    /// What follows the first part of a path, if that has the form of RPDB's keys: `/t0-free-rpdb`.
    private static func restOfForeignKey(_ path: String) -> Substring? {
        let start = Array(path.utf8.prefix(4))
        guard start.count == 4, start[0] == UInt8(ascii: "/"), start[1] == UInt8(ascii: "t"), (0x30...0x39).contains(start[2]),
            start[3] == UInt8(ascii: "-")
        else { return nil }
        let rest = path.dropFirst(bytes: 4)
        return rest[(rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex)...]
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
