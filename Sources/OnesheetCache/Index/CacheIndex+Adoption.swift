internal import FoundationEssentials
internal import GRDB
internal import OnesheetCore

extension CacheIndex {
    /// How many of the folder's parts have been taken into the index.
    func adopted() throws -> Int {
        let parts = try setting("adopted").flatMap { Int($0) } ?? 0
        return 0...FolderLayout.partCount ~= parts ? parts : 0
    }

    /// Takes those of `names` into the index that it does not know, while nobody stores or removes.
    /// - Parameter row: reads the entry's row from its file; `nil` where there is no such entry.
    /// - Returns: how many it took.
    func adopt(_ names: [Digest128], row: (Digest128) throws -> IndexRow?) throws -> Int {
        try transaction { database in
            var count = 0
            for name in names where try !Self.knows(name, database) {
                guard let row = try row(name) else { continue }
                try row.put(database, token: 0)
                count += 1
            }
            return count
        }
    }

    /// Those of `names` for which there is a row.
    func known(_ names: [Digest128]) throws -> Set<Digest128> {
        try read { database in Set(try names.filter { try Self.knows($0, database) }) }
    }

    static func knows(_ name: Digest128, _ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE name = ?)"), arguments: [Data(name.bytes)])
            ?? false
    }
}
