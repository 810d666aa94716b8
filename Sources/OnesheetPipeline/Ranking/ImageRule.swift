import FoundationEssentials
package import OnesheetCore

/// The rule by which one of a title's images is chosen, as [docs/images.md] states it: the kind, the list of languages, the votes weighed by their
/// count, the size, and the order of the source. It depends on nothing else, so it gives the same for one image and for ten thousand, on
/// every server, and for every order of an answer with votes.
package struct ImageRule: Sendable {
    /// The wanted kind. Others are no candidates.
    let kind: ImageKind
    /// The wanted languages; `nil` prefers none.
    let languages: LanguageList?
    /// The original language of the title, for the word `original` in the list.
    let original: LanguageTag?

    /// An average of few votes is uncertain. Each counts as if `priorWeight` more people had voted `priorVotes`.
    static let priorVotes = 3.0
    static let priorWeight = 4.0

    package init(_ kind: ImageKind, in languages: LanguageList?, original: LanguageTag? = nil) {
        self.kind = kind
        self.languages = languages
        self.original = original
    }

    /// The languages that a request asks for: its own, or those of the source. Backgrounds, scenes and portraits have no words if they can,
    /// unless the request says otherwise.
    static func languages(of selector: ImageSelector, configured: LanguageList?) -> LanguageList? {
        selector.languages ?? (selector.kind.hasText ? configured : .textless)
    }

    /// The candidates of the kind, best first, with the reasons in words. What a search has found comes after what a source knows.
    package func ranked(_ candidates: [PosterCandidate]) -> [RankedCandidate] {
        let candidates = candidates.filter { $0.kind == kind }
        return compared(candidates.filter { $0.trust == nil }) + compared(candidates.filter { $0.trust != nil })
    }

    private func compared(_ candidates: [PosterCandidate]) -> [RankedCandidate] {
        let hasVotes = candidates.contains { $0.facts.countedVotes > 0 }
        // A source that says neither languages nor votes has ordered its images itself.
        guard hasVotes || candidates.contains(where: { $0.language != nil }) else {
            return candidates.map { RankedCandidate(candidate: $0, reasons: $0.facts.origin) }
        }
        // Members come in the order of the configuration. That is stated, unlike the order within an answer.
        var members: [ExactText: Int] = [:]
        return candidates.enumerated().map { index, candidate in
            let member = ExactText(candidate.source.flatMap { TitleReference(written: $0)?.source } ?? "")
            let place = members[member] ?? members.count
            members[member] = place
            // An order that says less than the votes may differ from answer to answer. The name does not.
            return (candidate, Merit(of: candidate, by: self), (place, hasVotes ? 0 : index))
        }.sorted { left, right in
            if left.1 != right.1 { return left.1 > right.1 }
            if left.2 != right.2 { return left.2 < right.2 }
            return ExactText(left.0.location.name) < ExactText(right.0.location.name)
        }.map { RankedCandidate(candidate: $0.0, reasons: $0.0.facts.origin + $0.1.reasons) }
    }

    /// The average vote with the prior.
    static func weighed(_ facts: CandidateFacts) -> Double {
        let count = Double(facts.countedVotes)
        return ((facts.votes ?? 0) * count + priorVotes * priorWeight) / (count + priorWeight)
    }
}

/// What a candidate has to be compared by, in this order.
private struct Merit: Comparable {
    private let language: LanguageList.Place?
    /// Tenths of the weighed votes: smaller differences say nothing.
    private let votes: Int
    /// Pixels, up to the widest size of the kind. A source that does not say the width is believed.
    private let width: Int
    let reasons: [String]

    init(of candidate: PosterCandidate, by rule: ImageRule) {
        let facts = candidate.facts
        let place = rule.languages?.place(of: facts.language, original: rule.original)
        language = place
        let weighed = ImageRule.weighed(facts)
        votes = Int((weighed * 10).rounded())
        let widest = rule.kind.widest
        width = min(facts.width ?? widest, widest)
        let count = facts.countedVotes
        let spoken = facts.language.map { $0 == .undetermined ? "unknown language" : "language \($0)" } ?? "no language"
        reasons = [
            rule.languages.map { "\(spoken), \(Self.words(for: place, in: $0))" } ?? spoken,
            count > 0
                ? "\((facts.votes ?? 0).short) of \(count) \(count == 1 ? "vote" : "votes") counts as \(weighed.short)"
                : "no votes, which counts as \(weighed.short)",
            facts.width.map { $0 >= widest ? "wide enough" : "\($0) of \(widest) pixels wide" } ?? "width unknown",
        ]
    }

    private static func words(for place: LanguageList.Place?, in list: LanguageList) -> String {
        guard let place, place.index < list.entries.count else { return "not in \(list)" }
        let entry = list.entries[place.index]
        let nearness =
            switch place.distance {
            case 0: "for"
            case 1: "near"
            default: "another region of"
            }
        return "\(nearness) “\(entry)”, number \(place.index + 1) of \(list)"
    }

    static func == (left: Self, right: Self) -> Bool {
        (left.language == right.language) && (left.votes, left.width) == (right.votes, right.width)
    }

    static func < (left: Self, right: Self) -> Bool {
        if let one = left.language, let other = right.language, one != other { return one > other }
        return (left.votes, left.width) < (right.votes, right.width)
    }
}

extension CandidateFacts {
    /// Which other title has the image, and why it counts as the same.
    fileprivate var origin: [String] { [source.map { "an image of \($0)" }, match].compactMap { $0 } }

    /// The number of votes. An average without a number is that of one.
    fileprivate var countedVotes: Int { votes == nil ? 0 : voteCount ?? 1 }
}
