internal import FoundationEssentials
internal import GRDB
internal import OnesheetCore

/// What the index knows about one entry.
struct IndexRow {
    let name: Digest128
    let key: CacheKey
    /// On disk, in whole blocks.
    let bytes: Int
    let cost: Double
    let created: Date
    let stored: Date
    let end: Date?
    let tags: [CacheTag]

    /// - Parameter length: the length of the entry's file.
    init(name: Digest128, key: CacheKey, entry: CacheEntry, length: Int, stored: Date, end: Date?) {
        (self.name, self.key, self.stored, self.end) = (name, key, stored, end)
        bytes = (length + 4095) / 4096 * 4096
        cost = entry.cost.isFinite ? max(entry.cost, 0) : 0
        created = entry.created
        tags = entry.tags
    }

    /// Puts the row in place of the one with its name.
    func put(_ database: Database, token: Int64) throws {
        let name = Data(self.name.bytes)
        // Not REPLACE: it would not run the trigger that counts what goes.
        try database.cachedStatement(sql: "DELETE FROM entry WHERE name = ?").execute(arguments: [name])
        let inflation = try EvictionRank.inflation(of: key.kind, database)
        try database.cachedStatement(
            sql:
                "INSERT INTO entry (name, kind, key, bytes, cost, created, stored, ends, uses, rank, token, source) VALUES (?,?,?,?,?,?,?,?,1,?,?,?)"
        ).execute(arguments: [
            name, key.kind.number, key.text, bytes, cost, created.timeIntervalSinceReferenceDate,
            stored.timeIntervalSinceReferenceDate,
            end?.timeIntervalSinceReferenceDate, EvictionRank.rank(inflation: inflation, uses: 1, cost: cost, bytes: bytes), token,
            String(key.source),
        ])
        for tag in Set(tags) {
            try database.cachedStatement(sql: "INSERT OR IGNORE INTO tag (text) VALUES (?)").execute(arguments: [tag.description])
            try database.cachedStatement(sql: "INSERT OR IGNORE INTO tagged (tag, name) SELECT id, ? FROM tag WHERE text = ?")
                .execute(arguments: [name, tag.description])
        }
    }
}
