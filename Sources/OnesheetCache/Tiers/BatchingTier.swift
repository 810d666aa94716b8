package import OnesheetCore

/// An optional capability of the built-in tiers: stores entries behind answers, many at once.
package protocol BatchingTier: CacheTier {
    /// Takes an entry, which lookups find from then on, and stores it shortly after, as `store(_:for:ifGeneration:)` does.
    /// - Parameter report: gets, once, what `store` would return or throw. Called on any thread.
    /// - Returns: whether the tier has taken it. If not, because too many wait, `report` is not called.
    func storeLater(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?,
        report: @escaping @Sendable (Result<Bool, CacheError>) -> Void
    ) -> Bool

    /// Waits until what was taken so far is stored. A purge calls it first: a new generation drops what waits.
    func finishStoring() async
}
