package import OnesheetCore

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
    package var isEmpty: Bool { pinned == nil && rejected.isEmpty }

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

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(pinned, forKey: .pinned)
        // Sorted, so that equal decisions give equal bytes.
        try container.encode(rejected.sorted(), forKey: .rejected)
    }
}
