import FoundationEssentials
import OnesheetCore

/// A title's candidates in the form in which they are cached: only those with a URL. Local originals of a source are not cached.
struct CandidateList: Codable, Sendable {
    let candidates: [PosterCandidate]

    init(_ candidates: [PosterCandidate]) { self.candidates = candidates }

    /// Whether all candidates can be cached.
    var isPortable: Bool {
        candidates.allSatisfy {
            if case .http = $0.location { true } else { false }
        }
    }

    private struct Record: Codable {
        var url: String
        var width: Int?
        var height: Int?
        var site: String?
        var page: String?
        var published: Date?
        var trust: Double?
    }

    init(from decoder: any Decoder) throws {
        candidates = try [Record](from: decoder).map {
            PosterCandidate(
                .http(url: $0.url), width: $0.width, height: $0.height, site: $0.site, page: $0.page, published: $0.published,
                trust: $0.trust)
        }
    }

    func encode(to encoder: any Encoder) throws {
        let records = candidates.compactMap { candidate -> Record? in
            guard case .http(let url) = candidate.location else { return nil }
            return Record(
                url: url, width: candidate.width, height: candidate.height, site: candidate.site, page: candidate.page,
                published: candidate.published, trust: candidate.trust)
        }
        try records.encode(to: encoder)
    }
}
