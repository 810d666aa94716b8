import OnesheetCore

@testable import OnesheetCache

extension ReadingMemory {
    /// Refuses nothing.
    static var unlimited: ReadingMemory { ReadingMemory(charging: MemoryBudget(limit: .max)) }
}

extension Cache {
    func entry(for key: CacheKey, after lookUp: CacheLookUp? = nil) async -> CacheHit? {
        await entry(for: key, after: lookUp, into: .unlimited)
    }
}
