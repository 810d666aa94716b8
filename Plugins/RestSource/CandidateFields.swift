internal import FoundationEssentials
internal import OnesheetCore

/// The places of a candidate's facts, relative to the candidate.
struct CandidateFields: Sendable, Decodable {
    /// The URL of the picture; relative to `prefix` if that is set.
    private let url: Field
    /// A prefix for the URL: `https://image.tmdb.org/t/p/original`.
    let prefix: Phrase?
    /// The kind of the site, for ranking: `news`, `blog`.
    private let siteKind: Field?
    /// The region of the language, if the service has a field for it: `BR` beside `pt`.
    private let region: Field?
    private var facts = PlacedFields<CandidateFacts.CodingKeys>()

    private enum CodingKeys: String, CodingKey {
        case url, prefix, region, imageKind
        case siteKind = "kind"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        url = try container.decode(Field.self, forKey: .url)
        prefix = try container.decodeIfPresent(Phrase.self, forKey: .prefix)
        siteKind = try container.decodeIfPresent(Field.self, forKey: .siteKind)
        region = try container.decodeIfPresent(Field.self, forKey: .region)
        let fields = try decoder.container(keyedBy: CandidateFacts.CodingKeys.self)
        for field in CandidateFacts.CodingKeys.allCases where field != .kind {
            facts.places[field] = try fields.decodeIfPresent(OneOrMore.self, forKey: field)?.fields
        }
        facts.places[.kind] = try container.decodeIfPresent(OneOrMore.self, forKey: .imageKind)?.fields
    }

    /// The candidate and the kind of its site; `nil` if it has no usable URL.
    /// - Parameter kind: the kind of an image whose own kind the service does not say.
    func candidate(
        _ item: JSONValue, _ variables: [String: String], kind: ImageKind
    ) throws(SourceError) -> (PosterCandidate, siteKind: String?)? {
        guard let place = try url.text(in: item) else { return nil }
        let url = (prefix?.filled(variables) ?? "") + place
        guard WebURL(url) != nil else { return nil }
        var placed = facts
        placed.item = item
        var facts = try CandidateFacts(reading: placed)
        if try placed.value(.kind, isNumber: false) == nil { facts.kind = kind }
        if let language = facts.language, language.region == nil, let region = try region?.text(in: item) {
            facts.language = LanguageTag("\(language)-\(region)") ?? language
        }
        facts.width = facts.width.flatMap { $0 > 0 ? $0 : nil }
        facts.height = facts.height.flatMap { $0 > 0 ? $0 : nil }
        return (PosterCandidate(.http(url: url), facts: facts), try siteKind?.text(in: item))
    }
}
