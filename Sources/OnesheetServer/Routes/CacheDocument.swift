package import FoundationEssentials
package import OnesheetCore

/// A tier's statistics as JSON: the total, and by source.
package struct CacheDocument: Encodable {
    package struct Figures: Encodable {
        package let entries: Int
        package let bytes: Int
        /// The age of the oldest entry, in seconds.
        package let oldestAge: Int?
        package let hits: Int
        package let misses: Int
        package let stores: Int
        package let evictions: [String: Int]
        package let damaged: Int

        init(_ figures: CacheFigures, at now: Date) {
            entries = figures.entries
            bytes = figures.bytes
            oldestAge = figures.oldest.map { max(Int(saturating: now.timeIntervalSince($0)), 0) }
            hits = figures.hits
            misses = figures.misses
            stores = figures.stores
            evictions = figures.evictions
            damaged = figures.damaged
        }
    }

    package let byteLimit: Int
    /// The used part of the limit, 0 to 1.
    package let fill: Double
    package let total: Figures
    package let sources: [String: Figures]
    /// The contents of the shared store; `nil` if there is none, or if it was not counted.
    package var shared: Shared?

    package struct Shared: Encodable {
        package let entries: Int
        package let bytes: Int
        package let sources: [String: Held]

        package struct Held: Encodable {
            package let entries: Int
            package let bytes: Int
        }

        package init(_ statistics: CacheStatistics) {
            entries = statistics.total.entries
            bytes = statistics.total.bytes
            sources = statistics.sources.mapValues { Held(entries: $0.entries, bytes: $0.bytes) }
        }
    }

    package init(_ statistics: CacheStatistics, at now: Date) {
        byteLimit = statistics.byteLimit
        fill = statistics.fill
        total = Figures(statistics.total, at: now)
        sources = statistics.sources.mapValues { Figures($0, at: now) }
    }
}
