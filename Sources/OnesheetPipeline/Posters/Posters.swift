package import FoundationEssentials
import NIOCore
import OnesheetCache
package import OnesheetCore
package import OnesheetImaging

/// Which picture is a title's poster and which others there are: to be looked at by anyone, to be decided by the administrator.
package struct Posters: Sendable {
    private let catalog: Catalog
    private let pipeline: Pipeline
    private let choices: PosterChoices

    package init(catalog: Catalog, pipeline: Pipeline, choices: PosterChoices) {
        (self.catalog, self.pipeline, self.choices) = (catalog, pipeline, choices)
    }

    /// A title's candidates as the source has them, of the last hour; where it cannot say, as they were last seen.
    package func choice(of title: TitleReference) async throws -> PosterChoice {
        let known = try await choices.choice(of: title)
        let candidates: [PosterCandidate]
        do throws(PipelineError) {
            candidates = try await catalog.candidates(for: title)
        } catch {
            guard error.isOriginsFault, !known.candidates.isEmpty else { throw error }
            return known
        }
        var seen = known
        seen.see(candidates)
        // Store the list, because the next search may find other candidates and the numbers must keep their meaning.
        guard seen != known, candidates.contains(where: { $0.trust != nil }) else { return seen }
        return try await choices.change(title) { $0.see(candidates) }
    }

    /// A picture of a candidate, to look at before one is chosen.
    /// - Parameter number: from 1, as `choice(of:)` counts.
    /// - Throws: `PosterNumberError` if there is no such candidate.
    package func picture(_ number: Int, of title: TitleReference, as transform: Transform) async throws -> CacheEntry {
        let choice = try await choice(of: title)
        guard let entry = choice.candidate(number) else {
            throw PosterNumberError(number: number, count: choice.candidates.count, title: title)
        }
        let candidates = try await catalog.candidates(for: title)
        guard let candidate = candidates.first(where: { $0.location.name.isExactly(entry.name) }) else {
            throw PipelineError.noPoster(title)
        }
        return try await pipeline.picture(of: candidate, for: title, as: transform)
    }

    /// The picture that is the poster at the moment, where it has been fetched.
    package func current(_ title: TitleReference) async throws(PipelineError) -> PosterProvenance? {
        guard let entry = await pipeline.cache.entry(for: ImageRequest.originalKey(title))?.entry else { return nil }
        let reservation = pipeline.pool.memory.charge(entry.body.readableBytes)
        let hash = try await pipeline.originals.hash(of: Original(entry: entry, reservation: reservation))
        return PosterProvenance(
            name: entry.provenance.location ?? "", page: entry.provenance.page, site: entry.provenance.site,
            fetched: entry.created, mediaType: entry.mediaType, bytes: entry.body.readableBytes, hash: hash.description)
    }

    /// Makes a candidate the poster, from the next request on.
    /// - Parameter number: from 1, as `choice(of:)` counts.
    /// - Throws: `PosterNumberError` where there is no such candidate.
    package func pin(_ number: Int, of title: TitleReference) async throws -> PosterChoice {
        let name = try await name(number, of: title)
        return try await decide(title) { $0.pin(name) }
    }

    /// Never chooses a candidate again.
    package func reject(_ number: Int, of title: TitleReference) async throws -> PosterChoice {
        let name = try await name(number, of: title)
        return try await decide(title) { $0.reject(name) }
    }

    /// Forgets what was pinned and rejected: the next request elects anew.
    package func forget(_ title: TitleReference) async throws {
        try await choices.forget(title)
        _ = try await pipeline.purge(.tag(.title(title)))
    }

    /// Never shows the picture again that is the poster at the moment, for this title or another, in any size.
    /// - Throws: `PipelineError.noPoster` where there is none.
    package func block(_ title: TitleReference) async throws -> PerceptualHash {
        let original = try await pipeline.originals.original(of: title, at: await pipeline.cache.generation())
        let hash = try await pipeline.originals.hash(of: original)
        try await block(hash)
        _ = try await pipeline.purge(.tag(.title(title)))
        return hash
    }

    /// Never shows a picture again, or from now on again.
    package func block(_ hash: PerceptualHash, _ isBlocked: Bool = true) async throws {
        try await choices.block(hash, isBlocked)
        // Also where it may be shown again: other processes learn by it that titles without a poster may have one.
        _ = try await pipeline.purge(.tag(.picture(hash)))
        guard isBlocked else { return }
        // In a background task, so that it completes even if the client leaves; here, if too many tasks are under way.
        let search = PictureSearch(pipeline: pipeline)
        try await Urgency.$current.withValue(.prefetch) {
            guard let task = pipeline.background.start(.block(hash), { try await search.purge(hash) }) else {
                return try await search.purge(hash)
            }
            try await task.value
        }
    }

    /// The pictures that are never shown.
    package func blocked() async throws -> [PerceptualHash] { try await choices.blocked() }

    private func name(_ number: Int, of title: TitleReference) async throws -> String {
        catalog.know(title)
        var choice = try await choices.choice(of: title)
        if choice.candidates.isEmpty { choice = try await self.choice(of: title) }
        guard let candidate = choice.candidate(number) else {
            throw PosterNumberError(number: number, count: choice.candidates.count, title: title)
        }
        return candidate.name
    }

    private func decide(
        _ title: TitleReference, _ body: @escaping @Sendable (inout PosterChoice) -> Void
    ) async throws -> PosterChoice {
        let choice = try await choices.change(title, body)
        _ = try await pipeline.purge(.tag(.title(title)))
        return choice
    }
}

/// Where a poster came from.
package struct PosterProvenance: Sendable, Encodable {
    package let name: String
    package let page: String?
    package let site: String?
    package let fetched: Date
    package let mediaType: String
    package let bytes: Int
    /// The perceptual hash, by which the picture can be blocked.
    package let hash: String
}

/// There is no candidate of this number.
package struct PosterNumberError: Error, CustomStringConvertible {
    package let number: Int
    package let count: Int
    package let title: TitleReference

    package var description: String {
        count == 0 ? "\(title) has no candidates" : "candidate \(number): \(title) has 1 to \(count)"
    }
}
