#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a source says about an image of a title, apart from its location.
///
/// JSON, the client, manifests and the answers of programs have the same fields. A kind, a language, votes or a size that cannot be read are left
/// out, and the image stays: its kind is a poster then, and its language is `LanguageTag.undetermined`.
public struct CandidateFacts: Sendable, Equatable {
    public var kind = ImageKind.poster
    /// `nil` for an image without words, and if the source does not say.
    public var language: LanguageTag?
    /// The average vote, from 0 to 10.
    public var votes: Double?
    /// The number of these votes.
    public var voteCount: Int?
    /// Pixels according to the source, which may be wrong.
    public var width: Int?
    public var height: Int?
    /// The name of the site that shows the picture.
    public var site: String?
    /// The page that shows the picture.
    public var page: String?
    public var published: Date?
    /// The title of another source that has the image, as a source URL: `tmdb://550`. `nil` if it is an image of the source itself.
    public var source: String?
    /// Why that title counts as the same, in words; `nil` if its id says so.
    public var match: String?
    /// The fields that could not be read, each with its value.
    package var unreadable: [String] = []

    /// The possible average votes.
    package static let possibleVotes = 0.0...10.0

    public init() {}
}

extension CandidateFacts: Codable {
    /// The names of the fields in JSON, in manifests and in the answers of programs.
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case kind, language, votes, width, height, site, page, published, source, match
        case voteCount = "count"
    }

    /// The facts that `fields` describes, whatever they are read from.
    package init<Fields: FieldReader>(reading fields: Fields) throws(Fields.Failure) where Fields.Key == CodingKeys {
        width = try side(.width, in: fields)
        height = try side(.height, in: fields)
        site = try fields.text(.site)
        page = try fields.text(.page)
        published = try fields.moment(.published)
        source = try fields.text(.source)
        match = try fields.text(.match)
        if let value = try fields.value(.kind, isNumber: false) {
            if let kind = value.word.flatMap(ImageKind.init(rawValue:)) { self.kind = kind } else { note(value, at: .kind) }
        }
        if let value = try fields.value(.language, isNumber: false) {
            switch value.word.map(LanguageTag.statement) ?? .unreadable {
            case .tag(let tag): language = tag
            case .textless: language = nil
            case .unreadable:
                language = .undetermined
                note(value, at: .language)
            }
        }
        if let value = try fields.value(.votes, isNumber: true) {
            if let votes = value.quantity, Self.possibleVotes.contains(votes) {
                self.votes = votes
            } else {
                note(value, at: .votes)
            }
        }
        if let value = try fields.value(.voteCount, isNumber: true) {
            let count = value.quantity.flatMap { Int(exactly: $0) }
            if let count, count >= 0 { voteCount = count } else { note(value, at: .voteCount) }
        }
    }

    /// A number of pixels. Services write 0 for an unknown one.
    private mutating func side<Fields: FieldReader>(
        _ field: CodingKeys, in fields: Fields
    ) throws(Fields.Failure) -> Int? where Fields.Key == CodingKeys {
        guard let value = try fields.value(field, isNumber: true) else { return nil }
        if let pixels = value.quantity.flatMap({ Int(exactly: $0) }) { return pixels > 0 ? pixels : nil }
        note(value, at: field)
        return nil
    }

    private mutating func note(_ value: JSONValue, at field: CodingKeys) {
        unreadable.append("\(field.rawValue): \(value.word ?? value.quantity.map { "\($0)" } ?? "neither a text nor a number")")
    }

    public init(from decoder: any Decoder) throws {
        try self.init(reading: try decoder.container(keyedBy: CodingKeys.self))
    }
}

extension JSONValue {
    /// A text; null is an empty one.
    fileprivate var word: String? {
        switch self {
        case .string(let text): text
        case .null: ""
        default: nil
        }
    }

    /// A number, or a text that is one.
    fileprivate var quantity: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        case .string(let text): Double(text)
        default: nil
        }
    }
}
