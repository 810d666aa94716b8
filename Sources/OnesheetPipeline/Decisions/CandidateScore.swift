import FoundationEssentials
package import OnesheetCore

/// A candidate with its score and the reasons.
@dynamicMemberLookup
package struct CandidateScore: Sendable, Equatable {
    package var name: String
    /// What the source says about the image.
    package let facts: CandidateFacts
    /// From 0 to about 1.5; `nil` if the source knows its poster.
    package var score: Double?
    /// The parts of the score, or of the choice, in words.
    package var reasons: [String] = []
    /// The perceptual hash, if the picture has been fetched.
    package var hash: String?

    init(_ ranked: RankedCandidate) {
        self.init(ranked.candidate)
        if score == nil { reasons = ranked.reasons }
    }

    init(_ candidate: PosterCandidate) {
        name = candidate.location.name
        facts = candidate.facts
        guard let trust = candidate.trust else { return }
        let scoring = PosterScore()
        score = scoring.score(candidate)
        reasons = [
            "shape \(scoring.shape(candidate).short)", "size \(scoring.size(candidate).short)", "site \(trust.short)",
            "not looked at",
        ]
    }

    package subscript<Value>(dynamicMember fact: KeyPath<CandidateFacts, Value>) -> Value { facts[keyPath: fact] }
}

extension CandidateScore: Codable {
    private enum CodingKeys: CodingKey { case name, score, reasons, hash }

    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        name = try keys.decode(String.self, forKey: .name)
        facts = try CandidateFacts(from: decoder)
        score = try keys.decodeIfPresent(Double.self, forKey: .score)
        reasons = try keys.decode([String].self, forKey: .reasons)
        hash = try keys.decodeIfPresent(String.self, forKey: .hash)
    }

    package func encode(to encoder: any Encoder) throws {
        try facts.encode(to: encoder)
        var keys = encoder.container(keyedBy: CodingKeys.self)
        try keys.encode(name, forKey: .name)
        try keys.encodeIfPresent(score, forKey: .score)
        try keys.encode(reasons, forKey: .reasons)
        try keys.encodeIfPresent(hash, forKey: .hash)
    }
}
