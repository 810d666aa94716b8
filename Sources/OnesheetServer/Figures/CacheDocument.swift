import FoundationEssentials
import OnesheetCore

/// A tier's figures as JSON: all together, and each source's.
struct CacheDocument: Encodable {
    struct Figures: Encodable {
        let entries: Int
        let bytes: Int
        /// Seconds since the oldest entry was made.
        let oldestAge: Int?
        let hits: Int
        let misses: Int
        let stores: Int
        let evictions: [String: Int]
        let damaged: Int

        init(_ figures: CacheFigures, at now: Date) {
            (entries, bytes) = (figures.entries, figures.bytes)
            oldestAge = figures.oldest.map { Int(max(now.timeIntervalSince($0), 0)) }
            (hits, misses, stores) = (figures.hits, figures.misses, figures.stores)
            (evictions, damaged) = (figures.evictions, figures.damaged)
        }
    }

    let byteLimit: Int
    /// What part of the limit is taken, 0 to 1.
    let fill: Double
    let total: Figures
    let sources: [String: Figures]

    init(_ statistics: CacheStatistics, at now: Date) {
        (byteLimit, fill) = (statistics.byteLimit, statistics.fill)
        total = Figures(statistics.total, at: now)
        sources = statistics.sources.mapValues { Figures($0, at: now) }
    }
}
