internal import GRDB
internal import Synchronization

/// How often something was purged, so that each process learns of the others' purges.
extension CacheIndex {
    private static let name = "purges"

    /// Notes that this process has purged.
    func notePurge() throws {
        try alone { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)",
                arguments: [Self.name, "\(try Self.purges(database) &+ 1)"])
            ownPurges.add(1, ordering: .relaxed)
        }
    }

    /// How often other processes have purged; a number that only says something when it changes.
    func foreignPurges() throws -> Int {
        // Read together: the database lets one at a time work with it.
        try look { try Self.purges($0) &- ownPurges.load(ordering: .relaxed) }
    }

    private static func purges(_ database: Database) throws -> Int {
        let text = try String.fetchOne(database, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name])
        return text.flatMap(Int.init) ?? 0
    }
}
