/// Splits a text such as `/films/{id}` at its braces.
enum BracedText {
    /// - Parameters:
    ///   - literal: makes a part of a text outside braces.
    ///   - braced: makes a part of a text inside braces; `nil` if it is invalid.
    /// - Returns: `nil` if a part is invalid or a brace has no other.
    static func parts<Part>(of text: String, literal: (String) -> Part, braced: (Substring) -> Part?) -> [Part]? {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { return nil }
            let before = rest[..<open]
            guard !before.contains("}"), let part = braced(rest[rest.index(after: open)..<close]) else { return nil }
            if !before.isEmpty { parts.append(literal(String(before))) }
            parts.append(part)
            rest = rest[rest.index(after: close)...]
        }
        guard !rest.contains("}") else { return nil }
        if !rest.isEmpty { parts.append(literal(String(rest))) }
        return parts
    }
}
