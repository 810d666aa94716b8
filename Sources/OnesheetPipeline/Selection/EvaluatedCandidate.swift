import OnesheetCore
import OnesheetImaging

/// A candidate whose picture has been fetched and hashed.
struct EvaluatedCandidate: Sendable {
    let candidate: PosterCandidate
    let original: Original
    let hash: PerceptualHash
    /// The actual pixels, whatever the search reported.
    let width: Int
    let height: Int

    /// The factor for a picture whose shape differs from the reported one: it is a different picture, or a part of it.
    private static let lie = 0.6
    /// The bonus for each hit that shows the same picture, up to two.
    private static let agreement = 0.25

    /// The highest possible score of a candidate if others agree with it.
    static let ceiling = 1 + 2 * agreement

    /// The score and its reasons, among all candidates.
    func scored(among all: [EvaluatedCandidate]) -> CandidateScore {
        let scoring = PosterScore()
        var measured = candidate
        (measured.width, measured.height) = (width, height)
        var score = scoring.score(measured)
        var reasons = [
            "shape \(scoring.shape(measured).short) (\(width) × \(height))", "size \(scoring.size(measured).short)",
            "site \((candidate.trust ?? 1).short)",
        ]
        if !isAsAnnounced {
            score *= Self.lie
            reasons.append("announced as \(candidate.width ?? 0) × \(candidate.height ?? 0)")
        }
        let agreeing = agreeing(among: all)
        if agreeing > 0 {
            score *= 1 + Self.agreement * Double(min(agreeing, 2))
            reasons.append("\(agreeing) more show the same image")
        }
        var record = CandidateScore(candidate)
        (record.score, record.reasons, record.hash) = (score, reasons, hash.description)
        return record
    }

    /// The number of other candidates with the same picture.
    func agreeing(among all: [EvaluatedCandidate]) -> Int {
        all.count { !$0.candidate.location.name.isExactly(candidate.location.name) && $0.hash.isSamePicture(as: hash) }
    }

    /// Whether the picture has the reported shape, within a tenth.
    private var isAsAnnounced: Bool {
        guard let said = candidate.width, let high = candidate.height, said > 0, high > 0 else { return true }
        let ratio = Double(width) * Double(high) / (Double(height) * Double(said))
        return (0.9...1.1).contains(ratio)
    }
}
