package import OnesheetCache
package import OnesheetCore

/// The state of one image in the cache, and its last making.
package struct ImageExplanation: Sendable {
    package let request: ImageRequest
    /// The cached variant and its permitted use now; `nil` if no tier has it.
    package let stored: (head: CacheHead, state: Freshness.State)?
    /// The tier that has the original; `nil` if no tier has it.
    package let originalTier: String?
    /// Why this candidate is the original, in words; empty if there are no cached answers of the source to tell.
    package let choice: [String]
    /// The last making by this process, if it is still remembered.
    package let lastMaking: RecentMakings.Making?
    /// The remembered failure, which every request gets until the next attempt.
    package let failure: String?
}

extension Pipeline {
    /// Explains the image of `request`. Asks no source and no origin, makes nothing and promotes nothing. Counts as one miss of the
    /// client, because tiers have to read. The caller has found the source of the title.
    package func explain(_ request: ImageRequest) async throws(Failure) -> ImageExplanation {
        try WorkContext.current.countMiss()
        let head = await cache.head(of: request.key, into: ReadingMemory(of: pool.reading))
        let original = await cache.head(of: ImageRequest.originalKey(request.image), into: ReadingMemory(of: pool.reading))
        return ImageExplanation(
            request: request, stored: head.map { ($0, $0.entry.state(at: clock.now)) }, originalTier: original?.tier,
            choice: await choice(of: request.image, location: original?.entry.provenance.location),
            lastMaking: metrics.makings.last(request.key),
            failure: originals.failure(of: request, at: await cache.generation())?.message)
    }

    /// - Parameter location: of the original, if there is one.
    private func choice(of image: ImageReference, location: String?) async -> [String] {
        guard let source = originals.catalog.sources[image.title.source] else { return [] }
        guard let ranked = await originals.catalog.keptCandidates(for: image, from: source) else {
            // What costs no call is not kept, and neither is the answer that there is none.
            return source.asksService && location == nil ? ["no images of the title are known; a request asks its source"] : []
        }
        guard !ranked.isEmpty else { return ["its source has none"] }
        let index = location.map { location in ranked.firstIndex { $0.candidate.location.name.isExactly(location) } } ?? 0
        guard let index else { return ["the source no longer names this image"] }
        let order = ranked[index].reasons.isEmpty ? "in the order of the source" : "by the rule"
        let place = "number \(index + 1) of \(ranked.count) \(order)"
        return [await originals.isPinned(image) ? "pinned by the administrator, \(place)" : place] + ranked[index].reasons
    }
}
