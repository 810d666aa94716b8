import Logging
import OnesheetCache
package import OnesheetCore
package import OnesheetImaging

extension CandidateSelection {
    /// The candidate's picture with where it came from.
    /// - Returns: the failure of a candidate that others can stand in for.
    /// - Throws: a failure that says nothing about the candidate: cancellation or overload.
    func entry(
        _ candidate: PosterCandidate, of title: TitleReference, from source: any ContentSource, blocked: [PerceptualHash]
    ) async throws(PipelineError) -> Result<Original, PipelineError> {
        do throws(PipelineError) {
            let original = try await fetch.fetch(candidate, for: title, policy: source.originPolicy)
            guard !blocked.isEmpty || candidate.trust != nil else { return .success(original.from(candidate)) }
            let hash = try await hash(of: original)
            if blocked.contains(where: { $0.isSamePicture(as: hash) }) { throw .noPoster(title) }
            return .success(original.from(candidate).showing(hash))
        } catch {
            if error.isOurs { throw error }
            logger.info(
                "candidate refused",
                metadata: ["title": "\(title)", "candidate": "\(shown(candidate.location.name))", "reason": "\(error)"])
            return .failure(error)
        }
    }

    /// The stored choice. If it cannot be read, the selection continues without it: a poster is better than none.
    func remembered(_ title: TitleReference?) async -> (choice: PosterChoice, blocked: [PerceptualHash]) {
        do {
            let choice = if let title { try await choices.choice(of: title) } else { PosterChoice() }
            return (choice, try await choices.blocked())
        } catch {
            logger.error("the choice of posters cannot be read", metadata: ["reason": "\(error)"])
            return (PosterChoice(), [])
        }
    }

    /// Keeps the outcome.
    /// - Parameter winner: `nil` where the choice stays, although its picture could not be had this time.
    func remember(
        _ winner: EvaluatedCandidate?, among evaluated: [EvaluatedCandidate], all: [PosterCandidate], of title: TitleReference
    ) async {
        let scores = Dictionary(evaluated.map { (ExactText($0.candidate.location.name), $0.scored(among: evaluated)) }) {
            first, _ in
            first
        }
        do {
            try await choices.change(title) { choice in
                choice.see(all)
                choice.candidates = choice.candidates.map { scores[ExactText($0.name)] ?? $0 }
                // A pin or a rejection that was made meanwhile takes precedence.
                if let name = winner?.candidate.location.name, !choice.isPinned, !choice.rejected.contains(ExactText(name)) {
                    choice.chosen = name
                }
            }
        } catch {
            logger.error("the choice of a poster cannot be kept", metadata: ["title": "\(title)", "reason": "\(error)"])
        }
    }

    /// The perceptual hash of the picture, computed on a worker thread unless it is known.
    func hash(of original: Original) async throws(PipelineError) -> PerceptualHash {
        if let known = original.entry.presentation.perceptualHash.map(PerceptualHash.init(bits:)) { return known }
        return try await fetch.hash(of: original)
    }
}

extension PipelineError {
    /// Whether the same picture may be had again in a while.
    var isPassing: Bool {
        switch self {
        case .origin(.timedOut), .origin(.failed), .origin(.unavailable): true
        case .originRefused(_, let answer): answer >= 500 || answer == 429
        default: false
        }
    }
}

extension Original {
    /// The same, with where it was found.
    func from(_ candidate: PosterCandidate) -> Original {
        changed { entry in
            entry.provenance.page = candidate.page
            entry.provenance.site = candidate.site
        }
    }

    /// The same, with what it looks like and the tag by which it is removed.
    func showing(_ hash: PerceptualHash) -> Original {
        changed { entry in
            entry.presentation.perceptualHash = hash.bits
            entry.tags.append(.picture(hash))
        }
    }

    /// The same, found where `other` was.
    func foundAs(_ other: Original) -> Original {
        changed { entry in
            entry.provenance.page = entry.provenance.page ?? other.entry.provenance.page
            entry.provenance.site = entry.provenance.site ?? other.entry.provenance.site
        }
    }
}

extension CacheTag {
    /// Everything that shows this picture.
    package static func picture(_ hash: PerceptualHash) -> Self { Self("picture:\(hash)") }
}
