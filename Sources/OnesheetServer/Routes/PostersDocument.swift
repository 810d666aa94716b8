package import FoundationEssentials
import OnesheetCore
package import OnesheetPipeline

/// A title's poster candidates, best first, and the current poster.
package struct PostersDocument: Encodable {
    package struct Candidate: Encodable {
        /// The candidate's number in `PUT …/poster`.
        package let candidate: Int
        package let name: String
        /// `chosen`, `pinned` or `rejected`.
        package let state: String?
        package let score: Double?
        package let reasons: [String]
        package let width: Int?
        package let height: Int?
        package let site: String?
        package let page: String?
        package let published: Date?
        package let hash: String?
    }

    package let candidates: [Candidate]
    let current: PosterProvenance?
    /// The pin and the rejections, also of candidates that a later search has not found again.
    let decision: PosterDecision

    package init(_ choice: PosterChoice, _ current: PosterProvenance?) {
        self.current = current
        decision = choice.decision
        candidates = choice.candidates.enumerated().map { index, entry in
            var state: String?
            if choice.rejected.contains(ExactText(entry.name)) { state = "rejected" }
            if choice.isChosen(entry.name) { state = choice.isPinned ? "pinned" : "chosen" }
            // If the source knows its poster, nothing is chosen, and the current picture is the poster.
            if state == nil, choice.chosen == nil, current?.name.isExactly(entry.name) ?? false { state = "chosen" }
            return Candidate(
                candidate: index + 1, name: entry.name, state: state, score: entry.score.map { ($0 * 1000).rounded() / 1000 },
                reasons: entry.reasons, width: entry.width, height: entry.height, site: entry.site, page: entry.page,
                published: entry.published, hash: entry.hash)
        }
    }
}
