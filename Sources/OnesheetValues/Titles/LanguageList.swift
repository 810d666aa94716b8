/// The languages in which someone wants an image, in order of preference: tags, `original` for the title's own language, and `none` for an
/// image without words. Written with dots in between: `ko.original.en.none`.
public struct LanguageList: Hashable, Sendable, CustomStringConvertible {
    /// One member of the list.
    public enum Entry: Hashable, Sendable, CustomStringConvertible {
        case language(LanguageTag)
        /// The original language of the title.
        case original
        /// No words.
        case textless

        public var description: String {
            switch self {
            case .language(let tag): tag.description
            case .original: "original"
            case .textless: "none"
            }
        }

        /// - Throws: `RequestError.malformed` if `text` is neither a tag nor one of the words.
        public init(_ text: some StringProtocol) throws(RequestError) {
            switch text.lowercasedASCII() {
            case "original": self = .original
            case "none": self = .textless
            case "xx", "zxx", "und", "mul":
                throw .malformed("“\(text)” names no language; an image without words is “none”")
            case let name:
                guard let tag = LanguageTag(name) else {
                    throw .malformed("“\(text)” is not a language: it needs a tag such as ko or pt-BR, “original” or “none”")
                }
                self = .language(tag)
            }
        }
    }

    /// At least one, without duplicates.
    public let entries: [Entry]

    /// The most members of a list, which is a part of cache keys.
    public static let most = 16

    /// - Throws: `RequestError.malformed` if there is no entry, or if there are too many.
    public init(_ entries: [Entry]) throws(RequestError) {
        var unique: [Entry] = []
        for entry in entries where !unique.contains(entry) { unique.append(entry) }
        guard (1...Self.most).contains(unique.count) else {
            throw .malformed("a list of languages has 1 to \(Self.most) members, such as ko.original.en.none")
        }
        self.entries = unique
    }

    /// Images without words, then all others.
    package static let textless = LanguageList(only: .textless)

    private init(only entry: Entry) { entries = [entry] }

    /// - Parameter text: the entries, with dots or commas in between.
    public init(_ text: some StringProtocol) throws(RequestError) {
        var entries: [Entry] = []
        for name in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "." || $0 == "," }) {
            entries.append(try Entry(name))
        }
        try self.init(entries)
    }

    public var description: String { entries.map(\.description).joined(separator: ".") }

    /// Whether the original language of the title matters.
    package var needsOriginal: Bool { entries.contains(.original) }
}

extension LanguageList {
    /// The place of an image's language in a list. Smaller is better.
    package struct Place: Comparable, Sendable {
        /// The index of the entry that the language serves; behind all entries if it serves none.
        package let index: Int
        /// How exactly it does; see `LanguageTag.distance(to:)`.
        package let distance: Int

        package static func < (left: Self, right: Self) -> Bool { (left.index, left.distance) < (right.index, right.distance) }
    }

    /// The place of `language`, for a title whose own language is `original`.
    ///
    /// A language that is listed itself has its own place. Any other has that of the first entry that it can serve: in `pt-BR, en`,
    /// European Portuguese precedes English, and in `pt-BR, en, pt-PT` it follows.
    package func place(of language: LanguageTag?, original: LanguageTag?) -> Place {
        var served: Place?
        for (index, entry) in entries.enumerated() {
            let wanted: LanguageTag?
            switch entry {
            case .textless:
                if language == nil { return Place(index: index, distance: 0) }
                continue
            case .original: wanted = original
            case .language(let tag): wanted = tag
            }
            guard let language, let distance = wanted?.distance(to: language) else { continue }
            if distance == 0 { return Place(index: index, distance: 0) }
            served = served ?? Place(index: index, distance: distance)
        }
        return served ?? Place(index: entries.count, distance: 0)
    }
}
