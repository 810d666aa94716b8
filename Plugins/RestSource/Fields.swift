internal import FoundationEssentials
internal import OnesheetCore

/// The place and the form of a fact: a pointer, `{ at: /audiCnt, as: integer }`, `{ text: "{/movieId}-{/movieSeq}" }`, or several of
/// them, of which the first one with a value counts.
struct Field: Sendable, Decodable {
    private let choices: [Choice]

    init(from decoder: any Decoder) throws {
        choices = try OneOrMore<Choice>(from: decoder).all
    }

    /// The places in words, for errors.
    var text: String { choices.map(\.origin.text).joined(separator: " or ") }

    var names: Set<String> { choices.reduce(into: []) { $0.formUnion($1.names) } }

    /// The fact; `nil` if it is absent or empty.
    /// - Throws: `SourceError.malformedAnswer` if a text should be a number and is not.
    func value(in item: JSONValue, _ facts: Facts) throws(SourceError) -> JSONValue? {
        for choice in choices { if let value = try choice.value(in: item, facts) { return value } }
        return nil
    }

    func text(in item: JSONValue, _ facts: Facts) throws(SourceError) -> String? { try value(in: item, facts)?.plainText }

    func whole(in item: JSONValue, _ facts: Facts) throws(SourceError) -> Int? {
        guard let text = try text(in: item, facts) else { return nil }
        guard let number = Int(text) else { throw .malformedAnswer(reason: "“\(text)” at \(self.text) is not a whole number") }
        return number
    }
}

/// One way to a fact. The steps are applied in the order of the properties.
private struct Choice: Sendable, Decodable {
    enum Origin: Sendable {
        case place(JSONPointer)
        /// A text made of several places, or a constant.
        case phrase(Phrase)

        var text: String {
            switch self {
            case .place(let pointer): pointer.text
            case .phrase(let phrase): "“\(phrase.text)”"
            }
        }
    }

    let origin: Origin
    /// What separates the members of a text that becomes a list.
    var split: String?
    /// The fact in each member of a list.
    var each: Field?
    /// What is done to the text, or to each text of a list.
    var edits = TextEdits()
    /// What is written between the members of a list that becomes a text.
    var join: String?
    /// The type of the text; unchanged by default.
    var kind: ValueKind?

    private enum CodingKeys: String, CodingKey {
        case at, text, split, each, join
        case kind = "as"
    }

    init(from decoder: any Decoder) throws {
        if case .scalar = try ConfigurationValue(from: decoder) {
            origin = .place(try JSONPointer(from: decoder))
            return
        }
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        if keys.contains(.text), !keys.contains(.at) {
            origin = .phrase(try keys.decode(Phrase.self, forKey: .text))
        } else {
            origin = .place(try keys.decode(JSONPointer.self, forKey: .at))
            guard !keys.contains(.text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .text, in: keys, debugDescription: "a field has “at” or “text”, not both")
            }
        }
        split = try keys.decodeIfPresent(String.self, forKey: .split)
        each = try keys.decodeIfPresent(Field.self, forKey: .each)
        join = try keys.decodeIfPresent(String.self, forKey: .join)
        kind = try keys.decodeIfPresent(ValueKind.self, forKey: .kind)
        edits = try TextEdits(from: decoder)
        if split == "" {
            throw DecodingError.dataCorruptedError(forKey: .split, in: keys, debugDescription: "needs a text")
        }
    }

    var names: Set<String> {
        var names = each?.names ?? []
        if case .phrase(let phrase) = origin { names.formUnion(phrase.names) }
        return names
    }

    func value(in item: JSONValue, _ facts: Facts) throws(SourceError) -> JSONValue? {
        let found: JSONValue? =
            switch origin {
            case .place(let pointer): pointer.value(in: item)
            case .phrase(let phrase): phrase.filled(from: item, facts).map(JSONValue.string)
            }
        guard var value = facts.meaning(of: found) else { return nil }
        if let split, case .string(let text) = value {
            value = .array(text.parts(at: split).map(JSONValue.string))
        }
        if let each { value = try Self.members(of: value, each, facts) }
        if !edits.isEmpty { value = try edits.applied(to: value) }
        if let join, case .array(let members) = value {
            value = .string(members.compactMap(\.plainText).filter { !$0.isEmpty }.joined(separator: join))
        }
        guard let value = facts.meaning(of: value) else { return nil }
        guard let kind, let text = value.plainText else { return value }
        guard let typed = kind.value(of: text) else {
            throw .malformedAnswer(reason: "“\(text)” at \(origin.text) is not \(kind.words)")
        }
        return typed
    }

    /// The facts of the members of a list; an object is a list of one.
    private static func members(of value: JSONValue, _ each: Field, _ facts: Facts) throws(SourceError) -> JSONValue {
        let members: [JSONValue]
        switch value {
        case .array(let list): members = list
        case .object: members = [value]
        default: return value
        }
        var found: [JSONValue] = []
        for member in members { if let value = try each.value(in: member, facts) { found.append(value) } }
        return .array(found)
    }
}

/// The type of a value that a service writes as text.
enum ValueKind: String, Sendable, Decodable, CaseIterable {
    case text, integer, number, boolean

    var words: String {
        switch self {
        case .text: "a text"
        case .integer: "a whole number"
        case .number: "a number"
        case .boolean: "true or false"
        }
    }

    /// The value that `text` means; `nil` if it means none.
    func value(of text: String) -> JSONValue? {
        switch self {
        case .text: .string(text)
        case .integer: Int(text).map(JSONValue.integer)
        // Swift also parses NaN and infinity.
        case .number: Double(text).flatMap { $0.isFinite ? .number($0) : nil }
        case .boolean: Bool(text).map(JSONValue.bool)
        }
    }
}

/// What is done to a text, in the order of the properties. A mark that the text does not have changes nothing.
struct TextEdits: Sendable, Decodable {
    /// Keeps what is after the first of these.
    var after: String?
    /// Keeps what is before the first of these.
    var before: String?
    /// Texts and what replaces them, wherever they are.
    var replace: [[String]]
    /// Whole texts and what replaces them. Others stay.
    var map: [String: String]

    /// The longest text that is edited, in bytes: the longest that a source may answer.
    private static let longest = 65_536

    private enum CodingKeys: CodingKey { case after, before, replace, map }

    init() { (replace, map) = ([], [:]) }

    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        after = try keys.decodeIfPresent(String.self, forKey: .after)
        before = try keys.decodeIfPresent(String.self, forKey: .before)
        replace = try keys.decodeIfPresent([[String]].self, forKey: .replace) ?? []
        map = try keys.decodeIfPresent([String: String].self, forKey: .map) ?? [:]
        guard replace.allSatisfy({ $0.count == 2 && !$0[0].isEmpty }) else {
            throw DecodingError.dataCorruptedError(
                forKey: .replace, in: keys,
                debugDescription: "needs pairs of a text and its replacement: [[\"_small\", \"_large\"]]")
        }
        for (key, mark) in [(CodingKeys.after, after), (.before, before)] where mark == "" {
            throw DecodingError.dataCorruptedError(forKey: key, in: keys, debugDescription: "needs a text")
        }
    }

    var isEmpty: Bool { after == nil && before == nil && replace.isEmpty && map.isEmpty }

    func applied(to value: JSONValue) throws(SourceError) -> JSONValue {
        if case .array(let members) = value {
            var edited: [JSONValue] = []
            for member in members { edited.append(try applied(to: member)) }
            return .array(edited)
        }
        guard let text = value.plainText else { return value }
        return .string(try applied(to: text))
    }

    private func applied(to text: String) throws(SourceError) -> String {
        var text = text
        try Self.check(text)
        if let after, let range = text.firstRange(ofBytesOf: after) { text = String(text[range.upperBound...]) }
        if let before, let range = text.firstRange(ofBytesOf: before) { text = String(text[..<range.lowerBound]) }
        for pair in replace {
            text = text.replacing(bytesOf: pair[0], with: pair[1])
            try Self.check(text)
        }
        return map[text] ?? text
    }

    private static func check(_ text: String) throws(SourceError) {
        guard text.utf8.count <= longest else { throw .malformedAnswer(reason: "a text has more than \(longest) bytes") }
    }
}
