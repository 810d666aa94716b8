public import FoundationEssentials

/// The figures of a tier for each source. Counters count since the start of the process.
public struct CacheStatistics: Sendable, Equatable {
    /// The limit in bytes.
    public var byteLimit: Int
    /// Figures by the name of the source. Entries of no source are under the empty name.
    public var sources: [String: CacheFigures]

    public init(byteLimit: Int = 0, sources: [String: CacheFigures] = [:]) {
        self.byteLimit = byteLimit
        self.sources = sources
    }

    /// The figures of all sources together.
    public var total: CacheFigures { sources.values.reduce(CacheFigures(), +) }

    /// The used part of the limit, 0 to 1.
    public var fill: Double { byteLimit > 0 ? Double(total.bytes) / Double(byteLimit) : 0 }
}

/// The entries of a tier and their use.
public struct CacheFigures: Sendable, Equatable {
    /// The number of entries.
    public var entries = 0
    /// Their size in bytes.
    public var bytes = 0
    /// The time at which the oldest entry was made; `nil` if there is none.
    public var oldest: Date?
    /// Lookups that found an entry, and lookups that did not.
    public var hits = 0
    public var misses = 0
    public var stores = 0
    /// Entries that the tier evicted or did not accept, by reason.
    public var evictions: [String: Int] = [:]
    /// Entries that were damaged and therefore not served.
    public var damaged = 0

    public init() {}

    public static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.entries = left.entries.addingSaturating(right.entries)
        sum.bytes = left.bytes.addingSaturating(right.bytes)
        sum.oldest = [left.oldest, right.oldest].compactMap(\.self).min()
        sum.hits += right.hits
        sum.misses += right.misses
        sum.stores += right.stores
        sum.evictions.merge(right.evictions, uniquingKeysWith: +)
        sum.damaged += right.damaged
        return sum
    }
}
