internal import FoundationEssentials
internal import OnesheetCore

/// The place and the type of a fact: a pointer, or `{ at: /audiCnt, as: integer }`, `{ at: /nations, each: /nationNm }`.
struct Field: Sendable, Decodable {
    enum Kind: String, Sendable, Decodable {
        case text, integer, number
    }

    var at: JSONPointer
    /// The type of the text; unchanged by default.
    var kind: Kind?
    /// The place in each member of a list.
    var each: JSONPointer?

    private enum CodingKeys: String, CodingKey {
        case at, each
        case kind = "as"
    }

    init(from decoder: any Decoder) throws {
        if case .scalar = try ConfigurationValue(from: decoder) {
            at = try JSONPointer(from: decoder)
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        at = try container.decode(JSONPointer.self, forKey: .at)
        kind = try container.decodeIfPresent(Kind.self, forKey: .kind)
        each = try container.decodeIfPresent(JSONPointer.self, forKey: .each)
    }

    /// The fact; `nil` if it is absent or empty.
    /// - Throws: `SourceError.malformedAnswer` if a text should be a number and is not.
    func value(in item: JSONValue) throws(SourceError) -> JSONValue? {
        guard var value = at.value(in: item)?.meaningful else { return nil }
        if let each, case .array(let members) = value { value = .array(members.compactMap { each.value(in: $0) }) }
        guard let kind, let text = value.plainText else { return value }
        switch kind {
        case .text: return .string(text)
        case .integer:
            guard let number = Int(text) else { throw .malformedAnswer(reason: "“\(text)” at \(at.text) is not a whole number") }
            return .integer(number)
        case .number:
            // Swift also parses NaN and infinity.
            guard let number = Double(text), number.isFinite else {
                throw .malformedAnswer(reason: "“\(text)” at \(at.text) is not a number")
            }
            return .number(number)
        }
    }

    func text(in item: JSONValue) throws(SourceError) -> String? { try value(in: item)?.plainText }

    func whole(in item: JSONValue) throws(SourceError) -> Int? {
        guard let text = try text(in: item) else { return nil }
        guard let number = Int(text) else { throw .malformedAnswer(reason: "“\(text)” at \(at.text) is not a whole number") }
        return number
    }
}

/// One place, or several to try in order.
struct OneOrMore: Decodable {
    let fields: [Field]

    init(from decoder: any Decoder) throws {
        if case .list = try ConfigurationValue(from: decoder) {
            fields = try [Field](from: decoder)
        } else {
            fields = [try Field(from: decoder)]
        }
    }
}

/// The places of the fields of a title or of a candidate, relative to `item`, from which they are read. The first place with a value
/// counts.
struct PlacedFields<Key: CodingKey & Hashable>: FieldReader {
    var places: [Key: [Field]] = [:]
    var metadata: [String: Field] = [:]
    var item = JSONValue.null
    /// Names the item in errors.
    var subject = ""

    func required(_ field: Key) throws(SourceError) -> String {
        if let text = try text(field) { return text }
        let places = places[field, default: []].map(\.at.text).joined(separator: " or ")
        throw .malformedAnswer(reason: "“\(subject)” has no \(field.stringValue) at \(places)")
    }

    func text(_ field: Key) throws(SourceError) -> String? {
        try first(field) { place throws(SourceError) in try place.text(in: item) }
    }

    func whole(_ field: Key) throws(SourceError) -> Int? {
        try first(field) { place throws(SourceError) in try place.whole(in: item) }
    }

    func day(_ field: Key) throws(SourceError) -> CalendarDay? { try text(field).flatMap { CalendarDay($0) } }

    func moment(_ field: Key) throws(SourceError) -> Date? { try text(field).flatMap(PosterCandidate.moment) }

    func details(_ field: Key) throws(SourceError) -> [String: JSONValue] {
        var details: [String: JSONValue] = [:]
        for (name, place) in metadata { details[name] = try place.value(in: item) }
        return details
    }

    func value(_ field: Key, isNumber: Bool) throws(SourceError) -> JSONValue? {
        try first(field) { place throws(SourceError) in try place.value(in: item) }
    }

    private func first<Value>(
        _ field: Key, _ value: (Field) throws(SourceError) -> Value?
    ) throws(SourceError) -> Value? {
        for place in places[field] ?? [] { if let value = try value(place) { return value } }
        return nil
    }
}
