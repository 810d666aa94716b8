public import FoundationEssentials

/// A tier's figures, source by source. Counters count since the start of the process.
public struct CacheStatistics: Sendable, Equatable {
    /// How many bytes there may be.
    public var byteLimit: Int
    /// Each source's figures by its name; what belongs to no source is under the empty name.
    public var sources: [String: CacheFigures]

    public init(byteLimit: Int = 0, sources: [String: CacheFigures] = [:]) {
        (self.byteLimit, self.sources) = (byteLimit, sources)
    }

    /// The figures of all sources together.
    public var total: CacheFigures { sources.values.reduce(CacheFigures(), +) }

    /// What part of the limit is taken, 0 to 1.
    public var fill: Double { byteLimit > 0 ? Double(total.bytes) / Double(byteLimit) : 0 }
}

/// How entries fared in a tier.
public struct CacheFigures: Sendable, Equatable {
    /// How many there are.
    public var entries = 0
    /// What they take.
    public var bytes = 0
    /// When the oldest one was made; `nil` if there is none.
    public var oldest: Date?
    /// Look-ups that found one, and that found none.
    public var hits = 0
    public var misses = 0
    public var stores = 0
    /// Removed by the tier itself, or not taken, by reason.
    public var evictions: [String: Int] = [:]
    /// Found damaged and not served.
    public var damaged = 0

    public init() {}

    public static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.entries += right.entries
        sum.bytes += right.bytes
        sum.oldest = [left.oldest, right.oldest].compactMap(\.self).min()
        sum.hits += right.hits
        sum.misses += right.misses
        sum.stores += right.stores
        sum.evictions.merge(right.evictions, uniquingKeysWith: +)
        sum.damaged += right.damaged
        return sum
    }
}
