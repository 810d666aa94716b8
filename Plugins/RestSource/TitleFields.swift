internal import OnesheetCore

/// The places of a title's fields, relative to the title.
struct TitleFields: Sendable, Decodable {
    private var fields = PlacedFields<Title.CodingKeys>()
    private let translations: TranslatedFields?
    private static let groups: Set<Title.CodingKeys> = [.ids, .metadata]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Title.CodingKeys.self)
        for field in [Title.CodingKeys.id, .name] { fields.places[field] = try container.decode(Field.self, forKey: field) }
        translations = try container.decodeIfPresent(TranslatedFields.self, forKey: .translations)
        for field in Title.CodingKeys.allCases
        where field != .translations && !Self.groups.contains(field) && fields.places[field] == nil {
            fields.places[field] = try container.decodeIfPresent(Field.self, forKey: field)
        }
        for field in Self.groups { fields.groups[field] = try container.decodeIfPresent([String: Field].self, forKey: field) }
    }

    var names: Set<String> { fields.names.union(translations?.names ?? []) }

    /// The title; `nil` if the item has no id.
    func title(_ item: JSONValue, _ facts: Facts) throws(SourceError) -> Title? {
        var fields = fields.reading(item, facts)
        guard let id = try fields.text(.id) else { return nil }
        fields.subject = id
        var title = try Title(reading: fields)
        if let translations { title.translations = try translations.texts(in: item, facts) }
        return title
    }
}
