import Logging
import OnesheetCache
import OnesheetCore
import OnesheetImaging

/// Decides which candidate is a title's poster, and fetches it.
///
/// If the source knows its poster, the first candidate that can be fetched is chosen. If a search found the candidates, the best few are
/// fetched and compared, and the choice is stored: a title keeps its poster until the picture is gone or the administrator decides
/// otherwise.
struct CandidateSelection: Sendable {
    let fetch: OriginFetch
    let catalog: Catalog
    let choices: PosterChoices
    let logger: Logger

    /// How many candidates are fetched before a title counts as failed.
    private static let attempts = 4

    /// Fetches the poster of `title` from the chosen candidate, or from the next best one if that fails.
    func original(of title: TitleReference, _ source: any ContentSource) async throws(PipelineError) -> Original {
        let (choice, blocked) = await remembered(title)
        var failed: String?
        var keeps = choice.isPinned
        if let name = choice.chosen, WebURL(name) != nil {
            let known = choice.candidates.first { $0.name.isExactly(name) }
            let candidate = PosterCandidate(.http(url: name), site: known?.site, page: known?.page)
            switch try await entry(candidate, of: title, from: source, blocked: blocked) {
            case .success(let original): return original
            case .failure(let error):
                failed = name
                keeps = keeps || error.isPassing
            }
        }
        var candidates = try await catalog.candidates(for: title)
        let all = candidates
        candidates.removeAll { candidate in
            let name = candidate.location.name
            return choice.rejected.contains(ExactText(name)) || failed?.isExactly(name) ?? false
        }
        if let pinned = candidates.firstIndex(where: { choice.isPinned && choice.isChosen($0.location.name) }) {
            candidates.swapAt(0, pinned)
        }
        guard candidates.count > 1, candidates[0].trust != nil else {
            return try await first(of: candidates, for: title, from: source, blocked: blocked)
        }
        let (winner, evaluated) = try await evaluate(candidates, for: title, from: source, blocked: blocked)
        await remember(keeps ? nil : winner, among: evaluated, all: all, of: title)
        return winner.original
    }

    /// Whether the picture may be shown.
    func admits(_ original: Original) async throws(PipelineError) -> Bool {
        let blocked = await remembered(nil).blocked
        guard !blocked.isEmpty else { return true }
        let hash = try await hash(of: original)
        return !blocked.contains { $0.isSamePicture(as: hash) }
    }

    /// The first that can be had. When none can, what was wrong with the best one is told.
    private func first(
        of candidates: [PosterCandidate], for title: TitleReference, from source: any ContentSource, blocked: [PerceptualHash]
    ) async throws(PipelineError) -> Original {
        var firstError: PipelineError?
        for candidate in candidates.prefix(Self.attempts) {
            switch try await entry(candidate, of: title, from: source, blocked: blocked) {
            case .success(let original): return original
            case .failure(let error): firstError = firstError ?? error
            }
        }
        throw firstError ?? .noPoster(title)
    }

    /// Fetches candidates, best first, until it is clear which one wins.
    private func evaluate(
        _ candidates: [PosterCandidate], for title: TitleReference, from source: any ContentSource, blocked: [PerceptualHash]
    ) async throws(PipelineError) -> (EvaluatedCandidate, [EvaluatedCandidate]) {
        var evaluated: [EvaluatedCandidate] = []
        var firstError: PipelineError?
        let field = candidates.prefix(Self.attempts)
        for (candidate, next) in zip(field, field.dropFirst().map(Optional.some) + [nil]) {
            switch try await entry(candidate, of: title, from: source, blocked: blocked) {
            case .success(let original):
                let (size, hash) = (try await fetch.size(of: original), try await hash(of: original))
                evaluated.append(
                    EvaluatedCandidate(candidate: candidate, original: original, hash: hash, width: size.width, height: size.height)
                )
            case .failure(let error): firstError = firstError ?? error
            }
            if let winner = Self.winner(evaluated), Self.isDecided(winner, among: evaluated, next: next) {
                return (winner, evaluated)
            }
        }
        guard let winner = Self.winner(evaluated) else { throw firstError ?? .noPoster(title) }
        return (winner, evaluated)
    }

    /// The best one; among equals the search's first.
    private static func winner(_ evaluated: [EvaluatedCandidate]) -> EvaluatedCandidate? {
        let scores = evaluated.map { $0.scored(among: evaluated).score ?? 0 }
        guard let best = scores.max(), let index = scores.firstIndex(of: best) else { return nil }
        return evaluated[index]
    }

    /// The selection is decided if two candidates show the same picture in a poster's shape, or if the next candidate cannot win.
    private static func isDecided(_ winner: EvaluatedCandidate, among evaluated: [EvaluatedCandidate], next: PosterCandidate?)
        -> Bool
    {
        guard let next else { return true }
        let scoring = PosterScore()
        var measured = winner.candidate
        (measured.width, measured.height) = (winner.width, winner.height)
        if scoring.shape(measured) > 0.8, winner.agreeing(among: evaluated) > 0 { return true }
        return scoring.score(next) * EvaluatedCandidate.ceiling < winner.scored(among: evaluated).score ?? 0
    }
}
