import OnesheetCore
package import OnesheetPipeline

/// A title's poster candidates, best first, and the current poster. Visitors get the names of candidates, which are URLs, without what may
/// be a key.
package struct PostersDocument: Encodable {
    @dynamicMemberLookup
    package struct Candidate: Encodable {
        /// The candidate's number in `PUT …/poster`.
        package let candidate: Int
        /// `chosen`, `pinned` or `rejected`.
        package let state: String?
        /// Its name, what the source says about it, and its score with the reasons.
        package let entry: CandidateScore

        package var score: Double? { entry.score.map { ($0 * 1000).rounded() / 1000 } }

        package subscript<Value>(dynamicMember member: KeyPath<CandidateScore, Value>) -> Value { entry[keyPath: member] }

        private enum CodingKeys: CodingKey { case candidate, state, score }

        package func encode(to encoder: any Encoder) throws {
            try entry.encode(to: encoder)
            var keys = encoder.container(keyedBy: CodingKeys.self)
            try keys.encode(candidate, forKey: .candidate)
            try keys.encodeIfPresent(state, forKey: .state)
            try keys.encodeIfPresent(score, forKey: .score)
        }
    }

    package let candidates: [Candidate]
    let current: PosterProvenance?
    /// The pin and the rejections, also of candidates that a later search has not found again.
    let decision: PosterDecision
    /// The members that could not be asked for the ids that were just stated.
    let unchecked: [String]?

    /// - Parameter isWhole: whether the names are whole, for the administrator.
    package init(_ choice: PosterChoice, _ current: PosterProvenance?, isWhole: Bool, unchecked: [String] = []) {
        func name(_ name: String) -> String { isWhole ? name : publicPart(of: name) }
        func shown(_ name: ExactText) -> ExactText { isWhole ? name : ExactText(publicPart(of: name.description)) }
        self.unchecked = unchecked.isEmpty ? nil : unchecked
        self.current = current.map { current in
            var current = current
            current.name = name(current.name)
            return current
        }
        decision = PosterDecision(
            pinned: choice.decision.pinned.map(shown), rejected: Set(choice.decision.rejected.map(shown)),
            matches: choice.decision.matches)
        candidates = choice.candidates.enumerated().map { index, entry in
            var state: String?
            if choice.rejected.contains(ExactText(entry.name)) { state = "rejected" }
            if choice.isChosen(entry.name) { state = choice.isPinned ? "pinned" : "chosen" }
            // If the source knows its poster, nothing is chosen, and the current picture is the poster.
            if state == nil, choice.chosen == nil, current?.name.isExactly(entry.name) ?? false { state = "chosen" }
            var shown = entry
            shown.name = name(entry.name)
            return Candidate(candidate: index + 1, state: state, entry: shown)
        }
    }
}
