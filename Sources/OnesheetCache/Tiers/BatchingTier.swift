package import OnesheetCore

/// What a tier does with an entry to be stored later.
package enum QueuedStore: Sendable {
    /// The tier has taken it.
    case taken
    /// Too many wait.
    case full
    /// There was a purge since the work began.
    case refused
}

/// An optional capability of the built-in tiers: stores entries behind answers, many at once.
package protocol BatchingTier: CacheTier {
    /// Takes an entry, which lookups find from then on, and stores it shortly after, as `store(_:for:ifGeneration:)` does.
    /// - Parameter report: gets, once, what `store` would return or throw, if the tier has taken the entry. Called on any thread.
    func storeLater(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?,
        report: @escaping @Sendable (Result<Bool, CacheError>) -> Void
    ) -> QueuedStore

    /// The number of times that this process has raised the generation.
    var raises: Int { get }

    /// Drops what waits under other generations than `generation`, which another process may have raised. Before the first call, the tier
    /// takes nothing.
    /// - Parameters:
    ///   - generation: the generation that was read.
    ///   - raises: `raises` before it was read. If this process has raised the generation since then, nothing is dropped.
    func follow(_ generation: Int, readAfter raises: Int) async

    /// Waits until what was taken so far is stored. A purge calls it first: a new generation drops what waits.
    func finishStoring() async
}
