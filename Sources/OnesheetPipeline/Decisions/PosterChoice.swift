package import FoundationEssentials
package import OnesheetCore

/// The stored choice for a title's poster: the candidate, the reasons, and the administrator's decisions.
package struct PosterChoice: Codable, Sendable, Equatable {
    /// The name of the candidate that is the poster.
    package var chosen: String?
    /// Whether the administrator pinned it, so that no selection replaces it.
    package var isPinned = false
    /// The candidate that was selected before the pin. Without the pin it is the poster again, and nothing is fetched for a new selection.
    private var selected: String?
    /// The names of excluded candidates.
    package var rejected: Set<ExactText> = []
    /// The candidates of the last search, best first. Commands refer to them by number.
    package var candidates: [CandidateScore] = []

    /// `ballot` is the name in stored choices.
    private enum CodingKeys: String, CodingKey {
        case chosen, isPinned, selected, rejected
        case candidates = "ballot"
    }

    package init() {}

    /// The candidate with this `number`, from 1.
    package func candidate(_ number: Int) -> CandidateScore? {
        number > 0 && number <= candidates.count ? candidates[number - 1] : nil
    }

    /// Whether the candidate with this name is the poster.
    package func isChosen(_ name: String) -> Bool { chosen?.isExactly(name) ?? false }

    /// Pins the candidate with this name.
    package mutating func pin(_ name: String) {
        if !isPinned { selected = chosen }
        (chosen, isPinned) = (name, true)
        rejected.remove(ExactText(name))
    }

    /// The administrator's decisions: the pin and the rejections. Setting it keeps the present poster if they allow it.
    package var decision: PosterDecision {
        get { PosterDecision(pinned: isPinned ? chosen.map { ExactText($0) } : nil, rejected: rejected) }
        set {
            if isPinned { (chosen, isPinned, selected) = (selected, false, nil) }
            rejected = newValue.rejected
            if let pinned = newValue.pinned { pin(pinned.description) }
            if let chosen, rejected.contains(ExactText(chosen)) { self.chosen = nil }
        }
    }

    /// Merges new candidates into the list. Known ones keep their evaluation.
    package mutating func see(_ candidates: [PosterCandidate]) {
        let known = Dictionary(self.candidates.map { (ExactText($0.name), $0) }) { first, _ in first }
        self.candidates = candidates.prefix(Self.mostCandidates).map { candidate in
            var seen = CandidateScore(candidate)
            if let before = known[ExactText(seen.name)], before.hash != nil {
                (seen.score, seen.reasons, seen.hash) = (before.score, before.reasons, before.hash)
            }
            return seen
        }
    }

    /// The most candidates that are stored.
    private static let mostCandidates = 30
}

/// The administrator's decision about a title's poster, with the names of candidates.
package struct PosterDecision: Codable, Sendable, Equatable {
    /// The pinned candidate, if there is one.
    package var pinned: ExactText?
    package var rejected: Set<ExactText>

    private enum CodingKeys: CodingKey { case pinned, rejected }

    package init(pinned: ExactText? = nil, rejected: Set<ExactText> = []) {
        self.pinned = pinned
        self.rejected = rejected
    }

    /// Whether nothing is decided.
    var isEmpty: Bool { pinned == nil && rejected.isEmpty }

    /// Pins the candidate with this name.
    mutating func pin(_ name: String) {
        pinned = ExactText(name)
        rejected.remove(ExactText(name))
    }

    /// Excludes the candidate with this name.
    mutating func reject(_ name: String) {
        rejected.insert(ExactText(name))
        if pinned == ExactText(name) { pinned = nil }
    }

    /// Adds what another server has decided before the two shared their decisions. Of two pins this one stays.
    mutating func join(_ other: PosterDecision) {
        rejected.formUnion(other.rejected)
        pinned = pinned ?? other.pinned
        if let pinned { rejected.remove(pinned) }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(pinned, forKey: .pinned)
        // Sorted, so that equal decisions give equal bytes.
        try container.encode(rejected.sorted(), forKey: .rejected)
    }
}

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
