import FoundationEssentials
import Logging
import OnesheetCache
import OnesheetCore
import OnesheetImaging

/// Decides which candidate is a title's poster, or another image of it, and fetches it.
///
/// If the source knows its images, the first candidate by `ImageRule` that can be fetched is chosen. If a search found the candidates, the best few are
/// fetched and compared, and the choice is stored: a title keeps its poster until the picture is gone or the administrator decides
/// otherwise.
struct CandidateSelection: Sendable {
    let fetch: OriginFetch
    let catalog: Catalog
    let choices: PosterChoices
    let logger: Logger

    /// The most candidates to fetch before a title counts as failed.
    private static let attempts = 4

    /// Fetches `image` from the chosen candidate, or from the next best one if that fails.
    func original(of image: ImageReference, from source: any ContentSource) async throws(Failure) -> Original {
        let (choice, blocked) = await remembered(image)
        var failed: String?
        var keeps = choice.isPinned
        let known = choice.chosen.flatMap { name in choice.candidates.first { $0.name.isExactly(name) } }
        // Without its facts, it is unknown which member has the image of a source with members, and by whose rules it is fetched.
        if let name = choice.chosen, WebURL(name) != nil, known != nil || source.members.isEmpty,
            await !isOutdone(choice, of: image, from: source)
        {
            let candidate = PosterCandidate(.http(url: name), facts: known?.facts ?? CandidateFacts())
            switch try await entry(candidate, of: image, from: source, blocked: blocked) {
            case .success(let original): return original
            case .failure(let error):
                failed = name
                keeps = keeps || error.traits.contains(.keepsChoice)
            }
        }
        let all = try await catalog.candidates(for: image, from: source)
        var candidates = all.map(\.candidate)
        candidates.removeAll { candidate in
            let name = candidate.location.name
            return choice.rejected.contains(ExactText(name)) || failed?.isExactly(name) ?? false
        }
        if let pinned = candidates.firstIndex(where: { choice.isPinned && choice.isChosen($0.location.name) }) {
            candidates.swapAt(0, pinned)
        }
        guard candidates.count > 1, candidates[0].trust != nil else {
            return try await first(of: candidates, for: image, from: source, blocked: blocked)
        }
        let (winner, evaluated) = try await evaluate(candidates, for: image, from: source, blocked: blocked)
        await remember(keeps ? nil : winner, among: evaluated, all: all, of: image)
        return winner.original
    }

    /// Whether a member knows the image by now, instead of which a search hit has been chosen.
    private func isOutdone(_ choice: PosterChoice, of image: ImageReference, from source: any ContentSource) async -> Bool {
        guard !choice.isPinned, !source.members.isEmpty else { return false }
        do throws(Failure) {
            guard let best = try await catalog.candidates(for: image, from: source).first else { return false }
            return best.candidate.trust == nil && !choice.isChosen(best.candidate.location.name)
        } catch {
            return false
        }
    }

    /// The original, with its perceptual hash if that was needed; `nil` if the picture is blocked.
    func admitted(_ original: Original) async throws(Failure) -> Original? {
        let blocked = await remembered(nil).blocked
        guard !blocked.isEmpty else { return original }
        let hash = try await hash(of: original)
        if blocked.contains(where: { $0.isSamePicture(as: hash) }) { return nil }
        return original.entry.presentation.perceptualHash == nil ? original.showing(hash) : original
    }

    /// The picture of a candidate, whether or not it is the poster.
    /// - Throws: `Failure.noImage` if the picture is blocked.
    func original(
        of candidate: PosterCandidate, for image: ImageReference, from source: any ContentSource
    ) async throws(Failure) -> Original {
        try await entry(candidate, of: image, from: source, blocked: await remembered(nil).blocked).get()
    }

    /// The first candidate that can be fetched. If none can, throws the error of the best one.
    private func first(
        of candidates: [PosterCandidate], for image: ImageReference, from source: any ContentSource, blocked: [PerceptualHash]
    ) async throws(Failure) -> Original {
        var firstError: Failure?
        for candidate in Self.tried(candidates) {
            switch try await entry(candidate, of: image, from: source, blocked: blocked) {
            case .success(let original): return original
            case .failure(let error): firstError = firstError ?? error
            }
        }
        throw firstError ?? .noImage(image)
    }

    /// The first candidates, and the best one of each member that has none among them: the host of a member may be down.
    private static func tried(_ candidates: [PosterCandidate]) -> [PosterCandidate] {
        func member(_ candidate: PosterCandidate) -> ExactText {
            ExactText(candidate.source.flatMap { TitleReference(written: $0)?.source } ?? "")
        }
        var tried = Array(candidates.prefix(attempts))
        var members = Set(tried.map(member))
        for candidate in candidates.dropFirst(attempts) where members.insert(member(candidate)).inserted { tried.append(candidate) }
        return tried
    }

    /// Fetches candidates, best first, until it is clear which one wins.
    private func evaluate(
        _ candidates: [PosterCandidate], for image: ImageReference, from source: any ContentSource, blocked: [PerceptualHash]
    ) async throws(Failure) -> (EvaluatedCandidate, [EvaluatedCandidate]) {
        var evaluated: [EvaluatedCandidate] = []
        var firstError: Failure?
        let field = candidates.prefix(Self.attempts)
        for (candidate, next) in zip(field, field.dropFirst().map(Optional.some) + [nil]) {
            switch try await entry(candidate, of: image, from: source, blocked: blocked) {
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
        guard let winner = Self.winner(evaluated) else { throw firstError ?? .noImage(image) }
        return (winner, evaluated)
    }

    /// The best candidate; among equals the first of the search.
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

    /// The candidate's picture with its provenance.
    /// - Returns: the failure of a candidate, if others can replace it.
    /// - Throws: a failure that is unrelated to the candidate: cancellation or overload.
    private func entry(
        _ candidate: PosterCandidate, of image: ImageReference, from source: any ContentSource, blocked: [PerceptualHash]
    ) async throws(Failure) -> Result<Original, Failure> {
        do throws(Failure) {
            let original = try await fetch.fetch(
                candidate, for: image, policy: source.originPolicy(of: candidate.source))
            guard !blocked.isEmpty || candidate.trust != nil else {
                return .success(original.from(candidate))
            }
            let hash = try await hash(of: original)
            if blocked.contains(where: { $0.isSamePicture(as: hash) }) { throw .noImage(image) }
            return .success(original.from(candidate).showing(hash))
        } catch {
            if error.isOurs { throw error }
            logger.info(
                "candidate refused",
                metadata: [
                    "title": "\(shown(image.title))", "candidate": "\(shown(candidate.location.name))", "reason": "\(error)",
                ])
            return .failure(error)
        }
    }

    /// What was chosen and decided about the image.
    func choice(of image: ImageReference) async -> PosterChoice { await remembered(image).choice }

    /// The stored choice. If it cannot be read, the selection continues without it: a poster is better than none.
    private func remembered(_ image: ImageReference?) async -> (choice: PosterChoice, blocked: [PerceptualHash]) {
        do {
            return try await choices.choiceAndBlocked(of: image)
        } catch {
            logger.error("the choice of posters cannot be read", metadata: ["reason": "\(error)"])
            return (PosterChoice(), [])
        }
    }

    /// Stores the outcome.
    /// - Parameter winner: `nil` if the choice stays although its picture could not be fetched this time.
    private func remember(
        _ winner: EvaluatedCandidate?, among evaluated: [EvaluatedCandidate], all: [RankedCandidate], of image: ImageReference
    ) async {
        let scores = Dictionary(evaluated.map { (ExactText($0.candidate.location.name), $0.scored(among: evaluated)) }) {
            first, _ in first
        }
        do {
            try await choices.change(image) { choice in
                choice.see(all)
                choice.candidates = choice.candidates.map { scores[ExactText($0.name)] ?? $0 }
                // A pin or a rejection that was made meanwhile takes precedence.
                if let name = winner?.candidate.location.name, !choice.isPinned, !choice.rejected.contains(ExactText(name)) {
                    choice.chosen = name
                }
            }
        } catch {
            logger.error(
                "the choice of a poster cannot be stored", metadata: ["title": "\(shown(image.title))", "reason": "\(error)"])
        }
    }

    /// The perceptual hash of the picture, computed on a worker thread unless it is known.
    func hash(of original: Original) async throws(Failure) -> PerceptualHash {
        if let known = knownHash(of: original.entry) { return known }
        return try await fetch.hash(of: original)
    }

    /// The hash of the picture whose entry, or its head, is `entry`, if nothing needs to be computed for it.
    func knownHash(of entry: CacheEntry) -> PerceptualHash? {
        entry.presentation.perceptualHash.map(PerceptualHash.init(bits:)) ?? entry.hashOfDrawing
            ?? fetch.outlines.hash(of: entry.validator)
    }
}

extension Original {
    /// The same, with its provenance.
    func from(_ candidate: PosterCandidate) -> Original {
        changed { entry in
            entry.provenance.page = candidate.page
            entry.provenance.site = candidate.site
            entry.show(imageOf: candidate.source)
            guard candidate.isProvisional else { return }
            // Not stale then, but gone: a revalidation would only confirm that the image still exists.
            let end = entry.created.addingTimeInterval(Self.provisionalLife)
            entry.cacheTime = .date(min(entry.expires ?? end, end))
            entry.expires = entry.cacheTime.moment(from: entry.created)
            if let freshness = entry.freshness { entry.freshness = freshness.ending(by: end) }
        }
    }

    /// The seconds for which an image is believed that another one may outdo.
    private static let provisionalLife = 300.0

    /// The same, with its look and the tag for its removal.
    func showing(_ hash: PerceptualHash) -> Original {
        changed { entry in
            entry.presentation.perceptualHash = hash.bits
            entry.tags.append(.picture(hash))
        }
    }

    /// The same, with the provenance of `other`.
    func foundAs(_ other: Original) -> Original {
        changed { entry in
            entry.provenance.page = entry.provenance.page ?? other.entry.provenance.page
            entry.provenance.site = entry.provenance.site ?? other.entry.provenance.site
            if entry.provenance.source == nil { entry.show(imageOf: other.entry.provenance.source) }
        }
    }
}

extension CacheEntry {
    /// Records that the image is that of another source's title, whose purge reaches it.
    fileprivate mutating func show(imageOf title: String?) {
        guard let title, let member = TitleReference(written: title) else { return }
        provenance.source = title
        tags += [.source(member.source), .title(member)]
    }
}

extension Freshness {
    /// The same, with no use after `end`.
    fileprivate func ending(by end: Date) -> Freshness {
        var freshness = self
        freshness.freshUntil = min(freshUntil, end)
        freshness.staleUntil = min(staleUntil, end)
        freshness.staleOnErrorUntil = min(staleOnErrorUntil, end)
        return freshness
    }
}
