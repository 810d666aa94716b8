internal import OnesheetCore

/// A text with variables and places: `Bearer {token}`, `https://a.example{/poster_path}`. Unlike a template, it escapes nothing.
struct Phrase: Sendable, Decodable {
    private enum Part: Sendable {
        case literal(String)
        case variable(String)
        case place(JSONPointer)
    }

    let text: String
    private let parts: [Part]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let phrase = Phrase(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.problem(text))
        }
        self = phrase
    }

    /// Parses a phrase; `nil` if the text is invalid.
    init?(_ text: String) {
        guard let parts = BracedText.parts(of: text, literal: Part.literal, braced: Self.part) else { return nil }
        self.text = text
        self.parts = parts
    }

    private static func part(_ name: Substring) -> Part? {
        let text = String(name)
        if text.hasPrefix("/") { return JSONPointer(text).map(Part.place) }
        let isName = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_")
                || $0 == UInt8(ascii: ".")
        }
        return isName && !text.isEmpty ? .variable(text) : nil
    }

    static func problem(_ text: String) -> String { "“\(text)” is not a text with {variables} such as “Bearer {token}”" }

    /// The names of its variables.
    var names: Set<String> {
        Set(
            parts.compactMap { part in
                if case .variable(let name) = part { return name }
                return nil
            })
    }

    /// Whether it has places, which only the fields of a response can have.
    var hasPlaces: Bool {
        parts.contains { part in
            if case .place = part { return true }
            return false
        }
    }

    func filled(_ values: [String: String]) -> String {
        parts.map { part in
            switch part {
            case .literal(let text): text
            case .variable(let name): values[name] ?? ""
            case .place: ""
            }
        }.joined()
    }

    /// The text with the facts of `item`; `nil` if one of its places has nothing.
    func filled(from item: JSONValue, _ facts: Facts) -> String? {
        var filled = ""
        for part in parts {
            switch part {
            case .literal(let text): filled += text
            case .variable(let name): filled += facts.variables[name] ?? ""
            case .place(let place):
                guard let text = facts.meaning(of: place.value(in: item))?.plainText else { return nil }
                filled += text
            }
        }
        return filled
    }
}

/// What the facts of a response are read with.
struct Facts: Sendable {
    var variables: [String: String] = [:]
    /// Texts that say that there is no value: `N/A`.
    var nothing: [String] = []

    /// The value without empty parts: trims texts, and removes empty texts, lists and objects. `nil` if nothing is left.
    func meaning(of value: JSONValue?) -> JSONValue? {
        switch value {
        case nil, .null?: return nil
        case .string(let text)?:
            guard let first = text.firstIndex(where: { !$0.isWhitespace }), let last = text.lastIndex(where: { !$0.isWhitespace })
            else {
                return nil
            }
            let trimmed = String(text[first...last])
            return nothing.contains { $0.isExactly(trimmed) } ? nil : .string(trimmed)
        case .array(let members)?:
            let kept = members.compactMap(meaning)
            return kept.isEmpty ? nil : .array(kept)
        case .object(let members)?:
            let kept = members.compactMapValues(meaning)
            return kept.isEmpty ? nil : .object(kept)
        case .bool?, .integer?, .number?: return value
        }
    }
}

extension JSONValue {
    /// A text, number or Boolean as text; `nil` for all other values.
    var plainText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .number(let number): String(number)
        case .bool(let flag): String(flag)
        case .null, .array, .object: nil
        }
    }
}
