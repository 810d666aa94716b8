package import OnesheetCore

/// The stored choice for an image of a title, such as its poster: the candidate, the reasons, and the administrator's decisions.
package struct PosterChoice: Codable, Sendable, Equatable {
    /// The name of the candidate that is the poster.
    package var chosen: String?
    /// Whether the administrator pinned it, so that no selection replaces it.
    package var isPinned = false
    /// The candidate that was selected before the pin. Without the pin it is the poster again, and nothing is fetched for a new selection.
    private var selected: String?
    /// The names of excluded candidates.
    package var rejected: Set<ExactText> = []
    /// What the title is at members of its source, as the administrator says.
    private var matches: StatedMatches = [:]
    /// The candidates of the last search, best first. Commands refer to them by number.
    package var candidates: [CandidateScore] = []

    /// `ballot` is the name in stored choices.
    private enum CodingKeys: String, CodingKey {
        case chosen, isPinned, selected, rejected, matches
        case candidates = "ballot"
    }

    package init() {}

    /// Earlier versions wrote no matches.
    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        chosen = try keys.decodeIfPresent(String.self, forKey: .chosen)
        isPinned = try keys.decode(Bool.self, forKey: .isPinned)
        selected = try keys.decodeIfPresent(String.self, forKey: .selected)
        rejected = try keys.decode(Set<ExactText>.self, forKey: .rejected)
        matches = try keys.decodeIfPresent(StatedMatches.self, forKey: .matches) ?? [:]
        candidates = try keys.decode([CandidateScore].self, forKey: .candidates)
    }

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

    /// The administrator's decisions: the pin, the rejections and the matches. Setting it keeps the present poster if they allow it.
    package var decision: PosterDecision {
        get {
            PosterDecision(pinned: isPinned ? chosen.map { ExactText($0) } : nil, rejected: rejected, matches: matches)
        }
        set {
            if isPinned { (chosen, isPinned, selected) = (selected, false, nil) }
            // What was selected among the images of another title counts no more.
            if matches != newValue.matches { chosen = nil }
            (rejected, matches) = (newValue.rejected, newValue.matches)
            if let pinned = newValue.pinned { pin(pinned.description) }
            if let chosen, rejected.contains(ExactText(chosen)) { self.chosen = nil }
        }
    }

    /// Merges new candidates into the list. Known ones keep their evaluation.
    package mutating func see(_ candidates: [RankedCandidate]) {
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
