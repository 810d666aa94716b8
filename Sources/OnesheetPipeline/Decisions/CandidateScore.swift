package import FoundationEssentials
import OnesheetCore

/// A candidate with its score and the reasons.
package struct CandidateScore: Codable, Sendable, Equatable {
    package var name: String
    package var width: Int?
    package var height: Int?
    package var site: String?
    package var page: String?
    package var published: Date?
    /// From 0 to about 1.5; `nil` if the source knows its poster.
    package var score: Double?
    /// The parts of the score, in words.
    package var reasons: [String] = []
    /// The perceptual hash, if the picture has been fetched.
    package var hash: String?

    init(_ candidate: PosterCandidate) {
        name = candidate.location.name
        width = candidate.width
        height = candidate.height
        site = candidate.site
        page = candidate.page
        published = candidate.published
        guard let trust = candidate.trust else { return }
        let scoring = PosterScore()
        score = scoring.score(candidate)
        reasons = [
            "shape \(scoring.shape(candidate).short)", "size \(scoring.size(candidate).short)", "site \(trust.short)",
            "not looked at",
        ]
    }
}

extension Double {
    /// With two decimals, for people.
    var short: String { "\((self * 100).rounded() / 100)" }
}
