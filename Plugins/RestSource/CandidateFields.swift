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
    private var fields = PlacedFields<CandidateFacts.CodingKeys>()

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
        let facts = try decoder.container(keyedBy: CandidateFacts.CodingKeys.self)
        for field in CandidateFacts.CodingKeys.allCases where ![.kind, .source, .match].contains(field) {
            fields.places[field] = try facts.decodeIfPresent(Field.self, forKey: field)
        }
        fields.places[.kind] = try container.decodeIfPresent(Field.self, forKey: .imageKind)
    }

    var names: Set<String> {
        [url, siteKind, region].reduce(into: fields.names.union(prefix?.names ?? [])) { $0.formUnion($1?.names ?? []) }
    }

    /// The candidate and the kind of its site; `nil` if it has no usable URL.
    /// - Parameter kind: the kind of an image whose own kind the service does not say.
    func candidate(_ item: JSONValue, _ facts: Facts, kind: ImageKind) throws(SourceError) -> PosterScore.Hit? {
        guard let place = try url.text(in: item, facts) else { return nil }
        let url = (prefix?.filled(facts.variables) ?? "") + place
        guard WebURL(url) != nil else { return nil }
        let placed = fields.reading(item, facts)
        var found = try CandidateFacts(reading: placed)
        if try placed.value(.kind, isNumber: false) == nil { found.kind = kind }
        if let language = found.language, language.region == nil, let region = try region?.text(in: item, facts) {
            found.language = LanguageTag("\(language)-\(region)") ?? language
        }
        return (PosterCandidate(.http(url: url), facts: found), try siteKind?.text(in: item, facts))
    }
}
