extension Title {
    /// The names of the fields in JSON, in manifests and in the answers of programs.
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case id, name, originalName, overview, releaseDate, rank, metadata
    }

    /// The title that `fields` describes, whatever it is read from.
    package init<Fields: TitleFieldReader>(reading fields: Fields) throws(Fields.Failure) {
        self.init(
            id: try fields.required(.id), name: try fields.required(.name), originalName: try fields.text(.originalName),
            overview: try fields.text(.overview), releaseDate: try fields.day(.releaseDate), rank: try fields.whole(.rank),
            metadata: try fields.details(.metadata))
    }

    /// The texts other than the id, whose length is bounded.
    package var texts: [String] { [name, originalName, overview].compactMap { $0 } }

    public init(from decoder: any Decoder) throws {
        try self.init(reading: try decoder.container(keyedBy: CodingKeys.self))
    }
}

/// Reads the fields of a title by the type of their values. A field that is absent or null is `nil`.
package protocol TitleFieldReader {
    associatedtype Failure: Error

    func required(_ field: Title.CodingKeys) throws(Failure) -> String
    func text(_ field: Title.CodingKeys) throws(Failure) -> String?
    func whole(_ field: Title.CodingKeys) throws(Failure) -> Int?
    func day(_ field: Title.CodingKeys) throws(Failure) -> CalendarDay?
    func details(_ field: Title.CodingKeys) throws(Failure) -> [String: JSONValue]
}

extension KeyedDecodingContainer: TitleFieldReader where Key == Title.CodingKeys {
    package func required(_ field: Key) throws -> String { try decode(String.self, forKey: field) }
    package func text(_ field: Key) throws -> String? { try decodeIfPresent(String.self, forKey: field) }
    package func whole(_ field: Key) throws -> Int? { try decodeIfPresent(Int.self, forKey: field) }
    package func day(_ field: Key) throws -> CalendarDay? { try decodeIfPresent(CalendarDay.self, forKey: field) }
    package func details(_ field: Key) throws -> [String: JSONValue] {
        try decodeIfPresent([String: JSONValue].self, forKey: field) ?? [:]
    }
}
