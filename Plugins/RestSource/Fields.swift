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

/// The places of a title's fields, relative to the title.
struct TitleFields: Sendable, Decodable {
    /// The places of each field but `metadata`. The first one with a value counts.
    private var places: [Title.CodingKeys: [Field]] = [:]
    private let metadata: [String: Field]

    /// One place, or several to try in order.
    private struct OneOrMore: Decodable {
        let fields: [Field]

        init(from decoder: any Decoder) throws {
            if case .list = try ConfigurationValue(from: decoder) {
                fields = try [Field](from: decoder)
            } else {
                fields = [try Field(from: decoder)]
            }
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Title.CodingKeys.self)
        for field in [Title.CodingKeys.id, .name] { places[field] = try container.decode(OneOrMore.self, forKey: field).fields }
        for field in Title.CodingKeys.allCases where field != .metadata && places[field] == nil {
            places[field] = try container.decodeIfPresent(OneOrMore.self, forKey: field)?.fields
        }
        metadata = try container.decodeIfPresent([String: Field].self, forKey: .metadata) ?? [:]
    }

    /// The title; `nil` if the item has no id.
    func title(_ item: JSONValue) throws(SourceError) -> Title? {
        let reader = Reader(fields: self, item: item)
        return try reader.text(.id) == nil ? nil : Title(reading: reader)
    }

    private struct Reader: TitleFieldReader {
        let fields: TitleFields
        let item: JSONValue

        func required(_ field: Title.CodingKeys) throws(SourceError) -> String {
            if let text = try text(field) { return text }
            let places = fields.places[field, default: []].map(\.at.text).joined(separator: " or ")
            throw .malformedAnswer(reason: "“\(try text(.id) ?? "")” has no \(field.rawValue) at \(places)")
        }

        func text(_ field: Title.CodingKeys) throws(SourceError) -> String? {
            try first(field) { place throws(SourceError) in try place.text(in: item) }
        }

        func whole(_ field: Title.CodingKeys) throws(SourceError) -> Int? {
            try first(field) { place throws(SourceError) in try place.whole(in: item) }
        }

        func day(_ field: Title.CodingKeys) throws(SourceError) -> CalendarDay? { try text(field).flatMap { CalendarDay($0) } }

        func details(_ field: Title.CodingKeys) throws(SourceError) -> [String: JSONValue] {
            var details: [String: JSONValue] = [:]
            for (name, place) in fields.metadata { details[name] = try place.value(in: item) }
            return details
        }

        private func first<Value>(
            _ field: Title.CodingKeys, _ value: (Field) throws(SourceError) -> Value?
        ) throws(SourceError) -> Value? {
            for place in fields.places[field] ?? [] { if let value = try value(place) { return value } }
            return nil
        }
    }
}

/// The places of a candidate's facts, relative to the candidate.
struct CandidateFields: Sendable, Decodable {
    /// The URL of the picture; relative to `prefix` if that is set.
    var url: Field
    /// A prefix for the URL: `https://image.tmdb.org/t/p/original`.
    var prefix: Phrase?
    var width: Field?
    var height: Field?
    var site: Field?
    var page: Field?
    /// The kind of the site, for ranking: `news`, `blog`.
    var kind: Field?
    var published: Field?

    /// The candidate and its kind; `nil` if it has no usable URL.
    func candidate(_ item: JSONValue, _ variables: [String: String]) throws(SourceError) -> (PosterCandidate, kind: String?)? {
        guard let place = try url.text(in: item) else { return nil }
        let url = (prefix?.filled(variables) ?? "") + place
        guard WebURL(url) != nil else { return nil }
        var candidate = PosterCandidate(.http(url: url), site: try site?.text(in: item), page: try page?.text(in: item))
        candidate.width = try width?.whole(in: item).flatMap { $0 > 0 ? $0 : nil }
        candidate.height = try height?.whole(in: item).flatMap { $0 > 0 ? $0 : nil }
        candidate.published = try published?.text(in: item).flatMap(PosterCandidate.moment)
        return (candidate, try kind?.text(in: item))
    }
}
