/// The entity tags of an `If-Match` or `If-None-Match` field (RFC 9110 §8.8.3, §13.1).
struct EntityTags {
    private let isAny: Bool
    private var tags: [(isWeak: Bool, opaque: Substring)] = []

    /// Reads `*`, or a list of tags. What is no tag ends the list: tags may hold commas, so nothing behind it can be told.
    init(_ field: String) {
        var rest = field[...]
        func isFiller(_ character: Character) -> Bool { character == " " || character == "\t" || character == "," }
        rest = rest.drop(while: isFiller)
        isAny = rest.prefix { !isFiller($0) } == "*"
        while !isAny {
            let isWeak = rest.hasPrefix("W/")
            if isWeak { rest = rest.dropFirst(2) }
            guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else { return }
            tags.append((isWeak, rest[rest.index(after: rest.startIndex)..<end]))
            rest = rest[rest.index(after: end)...].drop(while: isFiller)
        }
    }

    /// Whether one of the tags stands for the very bytes that `validator` stands for.
    func matchStrongly(_ validator: String) -> Bool { isAny || tags.contains { !$0.isWeak && $0.opaque == validator } }

    /// The same, with tags that stand for bytes as good as those.
    func matchWeakly(_ validator: String) -> Bool { isAny || tags.contains { $0.opaque == validator } }
}
