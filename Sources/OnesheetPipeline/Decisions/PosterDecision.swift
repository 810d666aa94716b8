package import OnesheetCore

/// The administrator's decision about a title's poster, with the names of candidates, and about the title itself: what it is elsewhere.
package struct PosterDecision: Codable, Sendable, Equatable {
    /// The pinned candidate, if there is one.
    package var pinned: ExactText?
    package var rejected: Set<ExactText>
    /// Of all images of the title; only the decision about its poster has them.
    package var matches: StatedMatches

    private enum CodingKeys: CodingKey { case pinned, rejected, matches }

    package init(pinned: ExactText? = nil, rejected: Set<ExactText> = [], matches: StatedMatches = [:]) {
        self.pinned = pinned
        self.rejected = rejected
        self.matches = matches
    }

    /// Earlier versions wrote no matches.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        pinned = try container.decodeIfPresent(ExactText.self, forKey: .pinned)
        rejected = try container.decode(Set<ExactText>.self, forKey: .rejected)
        matches = try container.decodeIfPresent(StatedMatches.self, forKey: .matches) ?? [:]
    }

    /// Whether nothing is decided.
    package var isEmpty: Bool { pinned == nil && rejected.isEmpty && matches.isEmpty }

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

    /// States the ids of the title at members; `nil` takes a statement back.
    mutating func match(_ ids: [String: String?]) {
        for (member, id) in ids { matches[member] = id }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(pinned, forKey: .pinned)
        // Sorted, so that equal decisions give equal bytes.
        try container.encode(rejected.sorted(), forKey: .rejected)
        if !matches.isEmpty { try container.encode(matches, forKey: .matches) }
    }
}
