extension Title {
    /// The names of the fields in JSON, in manifests and in the answers of programs.
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case id, name, originalName, originalLanguage, overview, releaseDate, rank, metadata
    }

    /// The title that `fields` describes, whatever it is read from.
    package init<Fields: FieldReader>(reading fields: Fields) throws(Fields.Failure) where Fields.Key == CodingKeys {
        self.init(
            id: try fields.required(.id), name: try fields.required(.name), originalName: try fields.text(.originalName),
            overview: try fields.text(.overview), releaseDate: try fields.day(.releaseDate), rank: try fields.whole(.rank),
            metadata: try fields.details(.metadata))
        if case .string(let text)? = try fields.value(.originalLanguage, isNumber: false),
            case .tag(let tag) = LanguageTag.statement(text)
        {
            originalLanguage = tag
        }
    }

    /// The texts other than the id, whose length is bounded.
    package var texts: [String] { [name, originalName, overview].compactMap { $0 } }

    public init(from decoder: any Decoder) throws {
        try self.init(reading: try decoder.container(keyedBy: CodingKeys.self))
    }
}
