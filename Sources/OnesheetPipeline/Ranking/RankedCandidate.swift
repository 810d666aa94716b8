package import OnesheetCore

/// A candidate with its reasons, at its place among all.
package struct RankedCandidate: Sendable {
    package let candidate: PosterCandidate
    /// Why it has this place, in words; empty if its place is that in the order of its source.
    package let reasons: [String]

    package init(candidate: PosterCandidate, reasons: [String]) {
        self.candidate = candidate
        self.reasons = reasons
    }
}

extension Double {
    /// With two decimals, for people.
    var short: String { "\((self * 100).rounded() / 100)" }
}
