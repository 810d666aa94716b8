internal import FoundationEssentials
internal import GRDB
internal import OnesheetCore

/// Which rows a step of removing takes.
enum RowSelection {
    case tagged(CacheTag)
    /// Ended before, or created in a future that the clock was set back from.
    case ended(Date)
    /// The ones of this kind that are worth least.
    case leastWorth(CacheKind)
}

extension CacheIndex {
    /// One step of removing: at most `limit` entries that `selection` takes, files first. Short, so that others get their turn between steps.
    /// - Parameter bytes: it stops when as many are freed.
    func removeStep(
        _ selection: RowSelection, limit: Int, bytes: Int = .max, unlink: (Digest128) throws -> Void
    ) throws -> [(key: CacheKey?, bytes: Int)] {
        try transaction { database in
            var removed: [(key: CacheKey?, bytes: Int)] = []
            var names: [Digest128] = []
            var freed = 0
            for row in try Row.fetchAll(database, Self.request(selection, limit: limit)) where freed < bytes {
                guard let name = Digest128(bytes: try row.decode(Data.self, forColumn: "name")) else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an entry's name has not 16 bytes")
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

    /// What removing would take.
    func count(_ selection: RowSelection) throws -> CacheRemoval {
        try read { database in
            let (source, arguments) = Self.rows(selection)
            let row = try Row.fetchOne(
                database, sql: "SELECT count(*) AS entries, ifnull(sum(bytes), 0) AS bytes FROM \(source)",
                arguments: arguments)
            return CacheRemoval(entries: try row?.number("entries") ?? 0, bytes: try row?.number("bytes") ?? 0)
        }
    }

    /// Forgets all entries in one step, however many there are, after `clear` has made their files unreachable.
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

    /// Where the rows come from. Each step reads as many of them as it removes, however many there are.
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
}
