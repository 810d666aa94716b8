internal import OnesheetCore

/// The places of a title's texts in further languages: a list with a member for each language, and the places in a member.
struct TranslatedFields: Sendable, Decodable {
    private let items: Items
    private let language: Field
    /// The region of the language, if the service has a field for it: `BR` beside `pt`.
    private let region: Field?
    private let name: Field?
    private let overview: Field?
    private let metadata: [String: Field]

    private enum CodingKeys: CodingKey { case items, language, region, name, overview, metadata }

    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        items = try keys.decode(Items.self, forKey: .items)
        language = try keys.decode(Field.self, forKey: .language)
        region = try keys.decodeIfPresent(Field.self, forKey: .region)
        name = try keys.decodeIfPresent(Field.self, forKey: .name)
        overview = try keys.decodeIfPresent(Field.self, forKey: .overview)
        metadata = try keys.decodeIfPresent([String: Field].self, forKey: .metadata) ?? [:]
    }

    var names: Set<String> {
        ([language, region, name, overview].compactMap { $0 } + metadata.values).reduce(into: []) { $0.formUnion($1.names) }
    }

    /// The texts by language. A member without a language or without texts is left out, and the first of a language counts.
    func texts(in item: JSONValue, _ facts: Facts) throws(SourceError) -> [LanguageTag: TitleTexts] {
        guard items.isPresent(in: item, facts) else { return [:] }
        var all: [LanguageTag: TitleTexts] = [:]
        let members = try items.read(in: item, facts, warn: { _ in }) { member throws(SourceError) in
            try translation(member, facts)
        }
        for (tag, texts) in members where all[tag] == nil { all[tag] = texts }
        return all
    }

    private func translation(
        _ member: JSONValue, _ facts: Facts
    ) throws(SourceError) -> (tag: LanguageTag, texts: TitleTexts)? {
        guard case .tag(var tag) = LanguageTag.statement(try language.text(in: member, facts)) else { return nil }
        if tag.region == nil, let region = try region?.text(in: member, facts) { tag = LanguageTag("\(tag)-\(region)") ?? tag }
        var texts = TitleTexts(name: try name?.text(in: member, facts), overview: try overview?.text(in: member, facts))
        for (name, place) in metadata { texts.metadata[name] = try place.value(in: member, facts) }
        return texts == TitleTexts() ? nil : (tag, texts)
    }
}
