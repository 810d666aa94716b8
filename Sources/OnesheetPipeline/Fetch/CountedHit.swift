import OnesheetCache
import OnesheetCore

/// A tier's entry, and the memory that its bytes occupy if they come from a slower tier.
struct CountedHit: Sendable {
    let hit: CacheHit
    /// `nil` for small entries and for entries of the memory tier, which counts them itself.
    let reservation: MemoryReservation?

    /// Looks up the entry of `cache` under `key`. A large entry of a slower tier reserves `memory` before it is read.
    /// - Parameter begun: a previous, incomplete lookup.
    /// - Throws: `.overloaded` if there is no room.
    init?(
        _ key: CacheKey, in cache: Cache, after begun: CacheLookUp? = nil, counting memory: MemoryBudget, pool: RenderPool
    ) async throws(Failure) {
        let reading = ReadingMemory(of: memory)
        let hit = await cache.entry(for: key, after: begun, into: reading)
        if hit == nil, reading.isRefused { throw .overloaded(retryAfter: pool.retryAfter) }
        guard let hit else { return nil }
        self.hit = hit
        reservation = reading.reservation
    }
}
