internal import FoundationEssentials
internal import GRDB
internal import OnesheetCore

/// Stores, removes and adopts entries.
extension CacheIndex {
    /// Inserts rows and then puts their files in place, in this order. A process killed in between leaves rows without files, which
    /// are harmless. A file without a row would escape removals.
    /// - Parameters:
    ///   - rows: each with its generation. A row is not stored if the index has another one; `nil` stores unconditionally. A purge
    ///     raises the generation before it removes, so it either prevents a row or finds it.
    ///   - place: puts the file of the row with this number in place. Not called for a row that was removed or replaced meanwhile: a
    ///     removal wins over a running store of the entry.
    /// - Returns: for each row, whether the generation was the same until the end.
    /// - Throws: the first error of `place`. The other rows are stored.
    func store(_ rows: [(row: IndexRow, generation: Int?)], place: (Int) throws -> Void) throws -> [Bool] {
        let tokens = rows.map { _ in Int64.random(in: .min ... .max) }
        func areCurrent(_ database: Database) throws -> [Bool] {
            let generation = try Self.generation(database)
            return rows.map { $0.generation ?? generation == generation }
        }
        var isCurrent = try transaction { database in
            let isCurrent = try areCurrent(database)
            for (number, row) in rows.enumerated() where isCurrent[number] { try row.row.put(database, token: tokens[number]) }
            return isCurrent
        }
        guard isCurrent.contains(true) else { return isCurrent }
        var failure: (any Error)?
        try transaction { database in
            let isStillCurrent = try areCurrent(database)
            for (number, row) in rows.enumerated() where isCurrent[number] {
                let found = try Int64.fetchOne(
                    database.cachedStatement(sql: "SELECT token FROM entry WHERE name = ?"), arguments: [Data(row.row.name.bytes)])
                guard found == tokens[number] else {
                    isCurrent[number] = isStillCurrent[number]
                    continue
                }
                do {
                    try place(number)
                } catch {
                    // The row stays: there may be an earlier file, which removals must find.
                    failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
        return isCurrent
    }

    /// Removes the entry: first its file with `unlink`, then its row.
    func remove(_ name: Digest128, unlink: () throws -> Void) throws {
        try transaction { database in
            try unlink()
            try Self.remove([name], database)
        }
    }

    /// Records reads: the number of uses of each entry, and its new expiry if a read extended it.
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

    /// One removal step: at most `limit` entries that match `selection`, files first. Short, so that other operations can run
    /// between steps.
    /// - Parameter bytes: stops once this many are freed.
    func removeStep(
        _ selection: RowSelection, limit: Int, bytes: Int = .max, unlink: (Digest128) throws -> Void
    ) throws -> [(key: CacheKey?, bytes: Int)] {
        try transaction { database in
            var removed: [(key: CacheKey?, bytes: Int)] = []
            var names: [Digest128] = []
            var freed = 0
            for row in try Row.fetchAll(database, Self.request(selection, limit: limit)) where freed < bytes {
                guard let name = Digest128(bytes: try row.decode(Data.self, forColumn: "name")) else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the name of an entry does not have 16 bytes")
                }
                let (key, bytes) = (try row.key(), try row.number("bytes"))
                try unlink(name)
                names.append(name)
                freed += bytes
                removed.append((key, bytes))
                if case .leastWorth(let kind) = selection {
                    try EvictionRank.raise(kind, to: try row.decode(forColumn: "rank"), database)
                }
            }
            try Self.remove(names, database)
            return removed
        }
    }

    /// The entries and bytes that a removal would remove.
    func count(_ selection: RowSelection) throws -> CacheRemoval {
        try read { database in
            let (source, arguments) = Self.rows(selection)
            let row = try Row.fetchOne(
                database, sql: "SELECT count(*) AS entries, ifnull(sum(bytes), 0) AS bytes FROM \(source)",
                arguments: arguments)
            return CacheRemoval(entries: try row?.number("entries") ?? 0, bytes: try row?.number("bytes") ?? 0)
        }
    }

    /// Forgets all entries in one step, regardless of their number, after `clear` has made their files unreachable.
    func removeAll(clear: () throws -> Void) throws {
        try transaction { database in
            try clear()
            try database.execute(sql: "DROP TABLE entry; DROP TABLE tagged; DROP TABLE tag; DROP TABLE total; DROP TABLE held")
            try database.execute(sql: Self.schema)
        }
    }

    private static func request(_ selection: RowSelection, limit: Int) -> SQLRequest<Row> {
        var (source, arguments) = rows(selection)
        if case .leastWorth = selection { source += " ORDER BY rank" }
        arguments += [limit]
        return SQLRequest(
            sql: "SELECT entry.name AS name, kind, key, bytes, rank FROM \(source) LIMIT ?", arguments: arguments, cached: true)
    }

    /// The tables and the condition of a selection. Each step reads only as many rows as it removes.
    private static func rows(_ selection: RowSelection) -> (String, StatementArguments) {
        switch selection {
        case .tagged(let tag):
            (
                "tagged CROSS JOIN entry ON entry.name = tagged.name WHERE tag = (SELECT id FROM tag WHERE text = ?)",
                [tag.description]
            )
        case .ended(let now):
            (
                """
                (SELECT * FROM entry WHERE ends <= ?1
                UNION ALL SELECT entry.* FROM held CROSS JOIN entry ON entry.source = held.source
                WHERE created > ?2 AND ifnull(ends > ?1, TRUE)) AS entry
                """,
                [now.timeIntervalSinceReferenceDate, now.timeIntervalSinceReferenceDate + ExpirationPolicy.clockSlack]
            )
        case .leastWorth(let kind):
            ("entry WHERE kind = ?", [kind.number])
        }
    }

    /// The number of the folder's parts that have been indexed.
    /// - Parameter count: the number of parts.
    func adopted(of count: Int) throws -> Int {
        let parts = try setting("adopted").flatMap { Int($0) } ?? 0
        return 0...count ~= parts ? parts : 0
    }

    /// Indexes those of `names` that are unknown, while no other thread or process stores or removes.
    /// - Parameter row: reads the row from the file of the entry; `nil` if there is no such entry.
    /// - Returns: the number of new rows.
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

    /// The names in `names` that have a row.
    func known(_ names: [Digest128]) throws -> Set<Digest128> {
        try read { database in Set(try names.filter { try Self.knows($0, database) }) }
    }

    static func knows(_ name: Digest128, _ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE name = ?)"), arguments: [Data(name.bytes)])
            ?? false
    }
}

/// The rows of a removal step.
enum RowSelection {
    case tagged(CacheTag)
    /// Expired, or created in the future because the clock was set back.
    case ended(Date)
    /// The entries of this kind with the lowest rank.
    case leastWorth(CacheKind)
}

/// The reads of one entry since the last record in the index.
struct EntryReadings {
    var count = 0
    /// The new expiry, if there is one.
    var extended: Date??
}
