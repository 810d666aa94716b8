package import OnesheetCache
package import OnesheetCore

/// The state of one image in the cache, and its last making.
package struct ImageExplanation: Sendable {
    package let request: ImageRequest
    /// The cached variant and its permitted use now; `nil` if no tier has it.
    package let stored: (head: CacheHead, state: Freshness.State)?
    /// The tier that has the original; `nil` if no tier has it.
    package let originalTier: String?
    /// The last making by this process, if it is still remembered.
    package let lastMaking: RecentMakings.Making?
    /// The remembered failure, which every request gets until the next attempt.
    package let failure: String?
}

extension Pipeline {
    /// Explains the image of `request`. Asks no source and no origin, makes nothing and promotes nothing. Counts as one miss of the
    /// client, because tiers have to read. The caller has found the source of the title.
    package func explain(_ request: ImageRequest) async throws(Failure) -> ImageExplanation {
        try MissPermit.use()
        let head = await cache.head(of: request.key, into: ReadingMemory(of: pool.reading))
        return ImageExplanation(
            request: request, stored: head.map { ($0, $0.entry.state(at: clock.now)) },
            originalTier: await cache.tier(having: ImageRequest.originalKey(request.title)),
            lastMaking: metrics.makings.last(request.key),
            failure: originals.failure(of: request, at: await cache.generation())?.message)
    }
}
