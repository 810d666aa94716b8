import OnesheetCache
import OnesheetCore

/// One piece of work: variants of one picture that no tier has fresh.
struct Fill: Sendable {
    typealias Key = FlightKey<CacheKey>
    typealias Coalescer = Coalescing<Key, ImageAnswer, Failure>

    /// A request whose variant no tier has fresh.
    struct Miss: Sendable {
        let request: ImageRequest
        /// The variant to start from, if a tier has an old one.
        let stale: CacheEntry?
    }

    /// At least one. All show the same picture.
    let misses: [Miss]
    let source: any ContentSource
    /// The generation in which the work began.
    let generation: CacheGeneration
    /// The flights that wait for the variants.
    let flights: Coalescer.Flights
}
