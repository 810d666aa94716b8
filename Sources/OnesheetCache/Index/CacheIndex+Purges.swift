internal import GRDB

/// The number that each purge raises, whichever process purges.
extension CacheIndex {
    private static let setting = "purges"

    func generation() throws -> Int { try read { try Self.generation($0) } }

    /// Adds one to the generation.
    /// - Returns: the new one.
    func raiseGeneration() throws -> Int {
        try transaction { database in
            let next = try Self.generation(database) &+ 1
            try database.execute(
                sql: "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", arguments: [Self.setting, "\(next)"])
            return next
        }
    }

    static func generation(_ database: Database) throws -> Int {
        let text = try String.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM setting WHERE name = ?"), arguments: [setting])
        return text.flatMap(Int.init) ?? 0
    }
}
