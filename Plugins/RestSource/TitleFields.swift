internal import FoundationEssentials
internal import OnesheetCore

/// The places of a title's fields, relative to the title.
struct TitleFields: Sendable, Decodable {
    private var fields = PlacedFields<Title.CodingKeys>()

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Title.CodingKeys.self)
        for field in [Title.CodingKeys.id, .name] {
            fields.places[field] = try container.decode(OneOrMore.self, forKey: field).fields
        }
        for field in Title.CodingKeys.allCases where field != .metadata && fields.places[field] == nil {
            fields.places[field] = try container.decodeIfPresent(OneOrMore.self, forKey: field)?.fields
        }
        fields.metadata = try container.decodeIfPresent([String: Field].self, forKey: .metadata) ?? [:]
    }

    /// The title; `nil` if the item has no id.
    func title(_ item: JSONValue) throws(SourceError) -> Title? {
        var fields = fields
        fields.item = item
        guard let id = try fields.text(.id) else { return nil }
        fields.subject = id
        return try Title(reading: fields)
    }
}
