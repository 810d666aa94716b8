/// The kind of an entry. Each kind can have a budget of its own.
public enum CacheKind: String, Hashable, Sendable, CaseIterable, Codable {
    /// The bytes as the origin sent them.
    case original
    /// The bytes that one transform made of an original.
    case variant
    /// An answer of a source: a list, a title, candidates.
    case metadata
}

/// The canonical name of a cache entry. Equal requests have equal keys in every dialect. Every tier compares keys by their bytes.
public struct CacheKey: Hashable, Sendable, CustomStringConvertible {
    public let kind: CacheKind
    /// Canonical text, unique within the kind.
    public let text: String
    /// Computed once, because a key is looked up in several places. Swift seeds the hash in each process, so clients cannot choose
    /// colliding keys. It covers the text only; `==` also compares the kind.
    package let hash: UInt

    public init(_ kind: CacheKind, _ text: String) {
        self.kind = kind
        self.text = text
        var hasher = Hasher()
        hasher.combine(exactly: text)
        hash = UInt(bitPattern: hasher.finalize())
    }

    public var description: String { "\(kind.rawValue):\(text)" }

    /// The name of the source that the entry belongs to: the part before `://`, as in `boxoffice://2012#w342.jpg` or, in separate
    /// storage, `title/boxoffice://2012`. Empty if the text names no source.
    public var source: Substring {
        guard let end = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8[end...].starts(with: "://".utf8) else { return "" }
        let start = text.utf8[..<end].lastIndex(of: UInt8(ascii: "/")).map { text.utf8.index(after: $0) } ?? text.startIndex
        return text[start..<end]
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    public static func == (left: Self, right: Self) -> Bool {
        left.hash == right.hash && left.kind == right.kind && left.text.isExactly(right.text)
    }
}
