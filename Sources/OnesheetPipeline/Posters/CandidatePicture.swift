import OnesheetCache
package import OnesheetCore
import OnesheetHTTP
import OnesheetImaging

extension Pipeline {
    /// The picture of one of a title's candidates, for people who choose among them. It is cached like a variant and removed with
    /// its title.
    /// - Throws: `PipelineError.noPoster` if the picture is blocked.
    package func picture(
        of candidate: PosterCandidate, for title: TitleReference, as transform: Transform
    ) async throws(PipelineError) -> CacheEntry {
        let key = CacheKey(.variant, "\(title)#\(transform.canonicalText)#\(candidate.location.name)")
        if let hit = await cache.entry(for: key), hit.entry.state(at: clock.now) == .fresh { return hit.entry }
        try MissPermit.take()
        try pool.checkRoom()
        let generation = await cache.generation()
        let original = try await originals.original(of: candidate, for: title)
        let entry = try await render(original, of: title, as: transform).renewed(by: original)
        if original.isStorable { await cache.store(entry, for: key, ifGeneration: generation) }
        return entry
    }

    private func render(
        _ original: Original, of title: TitleReference, as transform: Transform
    ) async throws(PipelineError) -> CacheEntry {
        let (renderer, clock, lifetime, body) = (renderer, clock, originals.lifetime, original.entry.body)
        let cost = try await pool.examine { () throws(PipelineError) in
            do throws(RenderError) { return try renderer.cost(body, as: [transform]) } catch { throw .render(error) }
        }
        return try await pool.run(cost: cost) { () throws(PipelineError) -> CacheEntry in
            let start = ContinuousClock.now
            do throws(RenderError) {
                let image = try renderer.render(body, as: [transform])[0]
                return CacheEntry(
                    image, of: title, created: clock, lives: lifetime, cost: (ContinuousClock.now - start) / .milliseconds(1))
            } catch {
                throw .render(error)
            }
        }
    }
}
