internal import GRDB
internal import OnesheetCore

/// Who goes first when a budget is full: GreedyDual-Size-Frequency (Cherkasova, 1998).
///
/// An entry's rank is what it costs to make again, for the room that it takes, as often as it is used, on top of the *inflation*:
/// the rank of what was evicted last. So a dear, small, often used entry outlives others, and loses that lead as others come and go.
enum EvictionRank {
    static func rank(inflation: Double, uses: Int, cost: Double, bytes: Int) -> Double {
        // One millisecond more for all, so that what says no cost still differs by size and use.
        inflation + Double(min(uses, useLimit)) * (cost + 1) * 1024 / Double(max(bytes, 1))
    }

    /// More uses than these count no more, so that no entry stays for ever.
    static let useLimit = 64

    static func inflation(of kind: CacheKind, _ database: Database) throws -> Double {
        try Double.fetchOne(
            database.cachedStatement(sql: "SELECT inflation FROM total WHERE kind = ?"), arguments: [kind.number]) ?? 0
    }

    /// Notes that an entry of `kind` with `rank` was evicted.
    static func raise(_ kind: CacheKind, to rank: Double, _ database: Database) throws {
        try database.cachedStatement(sql: "UPDATE total SET inflation = max(inflation, ?) WHERE kind = ?")
            .execute(arguments: [rank, kind.number])
    }
}
