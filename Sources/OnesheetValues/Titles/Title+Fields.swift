extension Title {
    /// The names of the fields in JSON, in manifests and in the answers of programs.
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case id, name, originalName, originalLanguage, overview, releaseDate, rank, ids, metadata, translations
    }

    /// The title that `fields` describes, whatever it is read from.
    package init<Fields: FieldReader>(reading fields: Fields) throws(Fields.Failure) where Fields.Key == CodingKeys {
        self.init(
            id: try fields.required(.id), name: try fields.required(.name), originalName: try fields.text(.originalName),
            overview: try fields.text(.overview), releaseDate: try fields.day(.releaseDate), rank: try fields.whole(.rank),
            ids: try fields.details(.ids).compactMapValues(\.id), metadata: try fields.details(.metadata))
        if case .string(let text)? = try fields.value(.originalLanguage, isNumber: false),
            case .tag(let tag) = LanguageTag.statement(text)
        {
            originalLanguage = tag
        }
        for (language, value) in try fields.details(.translations) {
            if case .tag(let tag) = LanguageTag.statement(language), let texts = TitleTexts(value) { translations[tag] = texts }
        }
    }

    /// The texts other than the id, whose length is bounded.
    package var texts: [String] {
        [name, originalName, overview].compactMap { $0 } + ids.keys + ids.values + translations.values.flatMap(\.texts)
    }

    /// Whether no other source needs to be asked for a text.
    package var isWhole: Bool {
        originalName != nil && originalLanguage != nil && overview != nil && releaseDate != nil && metadata[Self.genresKey] != nil
    }

    /// The title with what it lacks.
    package func filled(from other: Title) -> Title {
        var title = self
        title.originalName = originalName ?? other.originalName
        title.originalLanguage = originalLanguage ?? other.originalLanguage
        title.overview = overview ?? other.overview
        title.releaseDate = releaseDate ?? other.releaseDate
        title.translations.merge(other.translations) { own, more in own.filled(from: more) }
        title.ids.merge(other.ids) { own, _ in own }
        title.metadata.merge(other.metadata) { own, _ in own }
        // Each service demands to be named.
        if case .string(let own)? = metadata["attribution"], case .string(let more)? = other.metadata["attribution"],
            !own.split(separator: "; ").contains(where: { $0 == more })
        {
            title.metadata["attribution"] = .string("\(own); \(more)")
        }
        return title
    }

    public init(from decoder: any Decoder) throws {
        try self.init(reading: try decoder.container(keyedBy: CodingKeys.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var keys = encoder.container(keyedBy: CodingKeys.self)
        try keys.encode(id, forKey: .id)
        try keys.encode(name, forKey: .name)
        try keys.encodeIfPresent(originalName, forKey: .originalName)
        try keys.encodeIfPresent(originalLanguage, forKey: .originalLanguage)
        try keys.encodeIfPresent(overview, forKey: .overview)
        try keys.encodeIfPresent(releaseDate, forKey: .releaseDate)
        try keys.encodeIfPresent(rank, forKey: .rank)
        // Most titles have none, and lists have thousands of titles.
        if !ids.isEmpty { try keys.encode(ids, forKey: .ids) }
        try keys.encode(metadata, forKey: .metadata)
        guard !translations.isEmpty else { return }
        let written = translations.map { ($0.description, $1) }
        try keys.encode(Dictionary(written) { first, _ in first }, forKey: .translations)
    }
}

extension JSONValue {
    /// A text that is not empty, or a number, as an id; anything else is none.
    fileprivate var id: String? {
        switch self {
        case .string(let text): text.isEmpty ? nil : text
        case .integer(let number): "\(number)"
        default: nil
        }
    }
}
