import OnesheetCore

/// The entity tags of an `If-Match` or `If-None-Match` field (RFC 9110 §8.8.3, §13.1).
package struct EntityTags {
    private let isAny: Bool
    private var tags: [(isWeak: Bool, opaque: Substring)] = []

    /// Parses `*` or a list of tags. Stops at the first malformed tag: tags may contain commas, so the rest is ambiguous.
    package init(_ field: String) {
        func isFiller(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == UInt8(ascii: ",") }
        var rest = Substring(field.utf8.drop(while: isFiller))
        isAny = Substring(rest.utf8.prefix { !isFiller($0) }).isExactly("*")
        while !isAny {
            let isWeak = rest.starts(withBytesOf: "W/")
            if isWeak { rest = rest.dropFirst(bytes: 2) }
            guard rest.starts(withBytesOf: "\""), let (tag, more) = rest.dropFirst(bytes: 1).cut(at: "\"") else { return }
            tags.append((isWeak, tag))
            rest = Substring(more.utf8.drop(while: isFiller))
        }
    }

    /// Whether a strong tag equals `validator`.
    package func matchStrongly(_ validator: String) -> Bool {
        isAny || tags.contains { !$0.isWeak && $0.opaque.isExactly(validator) }
    }

    /// Whether a tag equals `validator`, weak tags included.
    package func matchWeakly(_ validator: String) -> Bool { isAny || tags.contains { $0.opaque.isExactly(validator) } }
}
