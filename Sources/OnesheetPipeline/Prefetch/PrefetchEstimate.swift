import OnesheetCache
package import OnesheetCore

/// What a prefetch would cost.
package struct PrefetchEstimate: Sendable, Equatable, Codable {
    /// Variants asked for.
    package var total = 0
    /// Are there already.
    package var there = 0
    /// Would be made.
    package var missing = 0
    /// Titles whose source would be asked where the original is, with a call each or two.
    package var titlesToAsk = 0
    /// Pictures that would be fetched, at the least: where a search's hits are compared it is up to four for each title.
    package var fetches = 0
    /// Bytes that would be stored, going by the average of what is in the cache; `nil` while that is empty.
    package var bytes: Int?

    package init() {}
}

extension Prefetch {
    /// What `run` would cost. Asks nobody.
    package func estimate(_ titles: [TitleReference], _ transforms: [Transform]) async -> PrefetchEstimate {
        var estimate = PrefetchEstimate()
        estimate.total = titles.count * transforms.count
        for title in titles {
            var missing = 0
            for transform in transforms where !(await pipeline.cache.contains(ImageRequest(title, transform).key)) { missing += 1 }
            guard missing > 0 else { continue }
            estimate.missing += missing
            guard await !pipeline.cache.contains(ImageRequest.originalKey(title)) else { continue }
            estimate.titlesToAsk += 1
            estimate.fetches += 1
        }
        estimate.there = estimate.total - estimate.missing
        let stored = await pipeline.cache.statistics().values.map(\.total).max { $0.entries < $1.entries }
        if let stored, stored.entries > 0 {
            estimate.bytes = (estimate.missing + estimate.fetches) * (stored.bytes / stored.entries)
        }
        return estimate
    }
}
