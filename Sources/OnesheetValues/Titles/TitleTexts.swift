/// The texts of a title in one language.
public struct TitleTexts: Sendable, Equatable, Encodable {
    public var name: String?
    public var overview: String?
    /// Further texts, which replace those of the same names in `Title.metadata`, such as genres.
    public var metadata: [String: JSONValue]

    public init(name: String? = nil, overview: String? = nil, metadata: [String: JSONValue] = [:]) {
        self.name = name
        self.overview = overview
        self.metadata = metadata
    }

    /// The texts that an object has under these names; `nil` if it has none. Empty texts count as absent.
    package init?(_ value: JSONValue) {
        guard case .object(let members) = value else { return nil }
        func text(_ name: String) -> String? {
            if case .string(let text)? = members[name], !text.isEmpty { text } else { nil }
        }
        var metadata: [String: JSONValue] = [:]
        if case .object(let more)? = members["metadata"] { metadata = more.filter { $0.value.isPresent } }
        self.init(name: text("name"), overview: text("overview"), metadata: metadata)
        if self == TitleTexts() { return nil }
    }

    /// The texts with what they lack.
    package func filled(from other: TitleTexts) -> TitleTexts {
        TitleTexts(
            name: name ?? other.name, overview: overview ?? other.overview,
            metadata: metadata.merging(other.metadata) { own, _ in own })
    }

    /// The texts, whose length is bounded.
    package var texts: [String] { [name, overview].compactMap { $0 } }

    private enum CodingKeys: CodingKey { case name, overview, metadata }

    public func encode(to encoder: any Encoder) throws {
        var keys = encoder.container(keyedBy: CodingKeys.self)
        try keys.encodeIfPresent(name, forKey: .name)
        try keys.encodeIfPresent(overview, forKey: .overview)
        if !metadata.isEmpty { try keys.encode(metadata, forKey: .metadata) }
    }
}

extension Title {
    /// The key of genres in `metadata`.
    package static let genresKey = "genres"

    /// The names of its genres; empty if they are not a list of texts.
    package var genres: [String] {
        guard case .array(let members)? = metadata[Self.genresKey] else { return [] }
        let names = members.compactMap { if case .string(let name) = $0 { name } else { nil } }
        return names.count == members.count ? names : []
    }

    /// The languages of its translations that `languages` wants, the best first.
    package func translations(wantedIn languages: LanguageList) -> [LanguageTag] {
        translations.keys.map { (place: languages.place(of: $0, original: originalLanguage), tag: $0) }
            .filter { $0.place.index < languages.entries.count }
            .sorted { ($0.place, $0.tag.description) < ($1.place, $1.tag.description) }.map(\.tag)
    }

    /// The title with each text in the first of `languages` that it has it in, and without the other translations. A text that it has in none
    /// of them stays as the source gives it.
    package func read(in languages: LanguageList?) -> Title {
        var title = self
        title.translations = [:]
        guard let languages, !translations.isEmpty else { return title }
        // The order among equals must be the same in every answer.
        let all = translations.sorted { $0.key.description < $1.key.description }
        func best<Text>(_ own: (LanguageTag, Text)?, _ text: (TitleTexts) -> Text?) -> Text? {
            let known = (own.map { [$0] } ?? []) + all.compactMap { tag, texts in text(texts).map { (tag, $0) } }
            let placed = known.map { (place: languages.place(of: $0.0, original: originalLanguage), text: $0.1) }
                .filter { $0.place.index < languages.entries.count }
            // Of equals the first.
            return placed.min { $0.place < $1.place }?.text
        }
        let original = originalName.flatMap { name in originalLanguage.map { ($0, name) } }
        title.name = best(original, \.name) ?? name
        title.overview = best(nil, \.overview) ?? overview
        for key in Set(all.flatMap(\.value.metadata.keys)) {
            title.metadata[key] = best(nil) { $0.metadata[key] } ?? metadata[key]
        }
        return title
    }
}

extension JSONValue {
    fileprivate var isPresent: Bool {
        switch self {
        case .null: false
        case .string(let text): !text.isEmpty
        case .array(let members): !members.isEmpty
        case .object(let members): !members.isEmpty
        case .bool, .integer, .number: true
        }
    }
}
