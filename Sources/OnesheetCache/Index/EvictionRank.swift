internal import GRDB
internal import OnesheetCore

/// The order of eviction when a budget is full: GreedyDual-Size-Frequency (Cherkasova, 1998).
///
/// The rank of an entry is its cost divided by its size, times its uses, plus the *inflation*: the rank of the last evicted entry.
/// An expensive, small and popular entry outlives others, and loses its lead over time.
enum EvictionRank {
    static func rank(inflation: Double, uses: Int, cost: Double, bytes: Int) -> Double {
        // One extra millisecond for all, so that entries without a cost still differ by size and uses.
        inflation + Double(min(uses, useLimit)) * (cost + 1) * 1024 / Double(max(bytes, 1))
    }

    /// The most uses that count, so that no entry stays for ever.
    static let useLimit = 64

    static func inflation(of kind: CacheKind, _ database: Database) throws -> Double {
        try Double.fetchOne(
            database.cachedStatement(sql: "SELECT inflation FROM total WHERE kind = ?"), arguments: [kind.number]) ?? 0
    }

    /// Records the eviction of an entry of `kind` with `rank`.
    static func raise(_ kind: CacheKind, to rank: Double, _ database: Database) throws {
        try database.cachedStatement(sql: "UPDATE total SET inflation = max(inflation, ?) WHERE kind = ?")
            .execute(arguments: [rank, kind.number])
    }
}
