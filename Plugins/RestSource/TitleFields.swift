internal import OnesheetCore

/// The places of a title's fields, relative to the title.
struct TitleFields: Sendable, Decodable {
    private var fields = PlacedFields<Title.CodingKeys>()

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Title.CodingKeys.self)
        for field in [Title.CodingKeys.id, .name] { fields.places[field] = try container.decode(Field.self, forKey: field) }
        for field in Title.CodingKeys.allCases where field != .metadata && fields.places[field] == nil {
            fields.places[field] = try container.decodeIfPresent(Field.self, forKey: field)
        }
        fields.metadata = try container.decodeIfPresent([String: Field].self, forKey: .metadata) ?? [:]
    }

    var names: Set<String> { fields.names }

    /// The title; `nil` if the item has no id.
    func title(_ item: JSONValue, _ facts: Facts) throws(SourceError) -> Title? {
        var fields = fields.reading(item, facts)
        guard let id = try fields.text(.id) else { return nil }
        fields.subject = id
        return try Title(reading: fields)
    }
}
