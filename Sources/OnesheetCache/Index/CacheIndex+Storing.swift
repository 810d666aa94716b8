internal import FoundationEssentials
internal import GRDB
internal import OnesheetCore

extension CacheIndex {
    /// Puts `row` into the index and then the file in its place, in this order: a process killed in between leaves a row without a file,
    /// which is harmless, never a file that no removal would find.
    /// - Parameters:
    ///   - generation: nothing is stored if the index has another one. A purge raises it before it removes, so that it either refuses the
    ///     row here or finds it afterwards.
    ///   - place: puts the file in its place. Not called when the row was removed or replaced meanwhile: what removes an entry that is
    ///     just being stored wins.
    /// - Returns: whether the generation was the same until the end.
    func store(_ row: IndexRow, ifGeneration generation: Int?, place: () throws -> Void) throws -> Bool {
        let token = Int64.random(in: .min ... .max)
        func isCurrent(_ database: Database) throws -> Bool { try generation.map { try Self.generation(database) == $0 } ?? true }
        let isStored = try transaction { database in
            guard try isCurrent(database) else { return false }
            try row.put(database, token: token)
            return true
        }
        guard isStored else { return false }
        return try transaction { database in
            let found = try Int64.fetchOne(
                database.cachedStatement(sql: "SELECT token FROM entry WHERE name = ?"), arguments: [Data(row.name.bytes)])
            guard found == token else { return try isCurrent(database) }
            do {
                try place()
            } catch {
                try Self.remove([row.name], database)
                throw error
            }
            return true
        }
    }

    /// Takes the entry out: first its file, by `unlink`, then its row.
    func remove(_ name: Digest128, unlink: () throws -> Void) throws {
        try transaction { database in
            try unlink()
            try Self.remove([name], database)
        }
    }

    /// Notes readings: how often each entry was used, and its new end of life where reading extended it.
    func note(_ readings: [Digest128: EntryReadings]) throws {
        try transaction { database in
            for (name, reading) in readings {
                guard
                    let row = try Row.fetchOne(
                        database.cachedStatement(sql: "SELECT kind, uses, cost, bytes, ends FROM entry WHERE name = ?"),
                        arguments: [Data(name.bytes)]), let kind = CacheKind(number: try row.number("kind"))
                else { continue }
                let uses = min(try row.number("uses") + reading.count, EvictionRank.useLimit)
                let rank = EvictionRank.rank(
                    inflation: try EvictionRank.inflation(of: kind, database), uses: uses, cost: try row.decode(forColumn: "cost"),
                    bytes: try row.number("bytes"))
                let known = try row.decode(Double?.self, forColumn: "ends")
                let end: Double? = reading.extended.map { $0?.timeIntervalSinceReferenceDate } ?? known
                try database.cachedStatement(sql: "UPDATE entry SET uses = ?, rank = ?, ends = ? WHERE name = ?")
                    .execute(arguments: [uses, rank, end, Data(name.bytes)])
            }
        }
    }

    static func remove(_ names: [Digest128], _ database: Database) throws {
        let statement = try database.cachedStatement(sql: "DELETE FROM entry WHERE name = ?")
        for name in names { try statement.execute(arguments: [Data(name.bytes)]) }
    }
}

/// How one entry was read since the index was told last.
struct EntryReadings {
    var count = 0
    /// The new end of life, where there is one.
    var extended: Date??
}
