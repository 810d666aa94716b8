package import Logging
package import OnesheetCache
package import OnesheetCore

extension Cache {
    /// Creates the cache: the configured memory tier, then `others`.
    init(_ configuration: CacheConfiguration.Memory, others: [any CacheTier], clock: WallClock, logger: Logger) {
        let memory = MemoryTier(
            bytes: configuration.bytes.bytes, expires: .seconds(configuration.expires.seconds), clock: clock)
        self.init(memory: memory, others: others, logger: logger)
    }
}

extension DiskTier {
    /// Opens the configured disk tier.
    package convenience init(_ configuration: CacheConfiguration.Disk, clock: WallClock, logger: Logger) throws(CacheError) {
        try self.init(
            path: configuration.path, budgets: DiskBudgets(bytes: configuration.bytes.bytes),
            expires: .seconds(configuration.expires.seconds),
            minimumFreeSpace: configuration.free.map { .bytes($0.bytes) } ?? .usual,
            clock: clock, logger: logger)
    }
}
