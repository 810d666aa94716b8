internal import FoundationEssentials
internal import GRDB
internal import OnesheetCore

/// The contents of the folder, in SQLite: for budgets, eviction, tags and counts. No lookup needs it.
///
/// It can be rebuilt from the files at any time. It is therefore not synced to the medium: a killed process cannot damage it, and
/// after a crash of the machine it is rebuilt. It uses a rollback journal, because truncating the shared memory of a write-ahead
/// log would kill the process.
final class CacheIndex: Sendable {
    let path: String
    let database: DatabaseQueue
    let identity: FileStatus.Identity

    /// Opens the index at `path`, or initialises the empty file there.
    /// - Throws: `DatabaseError` if it is damaged or from a newer version, `FileFailure` if it is not a file.
    init(path: String) throws {
        self.path = path
        try DatabaseFile(path: path).check()
        var configuration = Configuration()
        configuration.label = "onesheet.cache.index"
        // Another process may be writing: wait for it.
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = PERSIST; PRAGMA journal_size_limit = 65536;
                    PRAGMA synchronous = OFF; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY
                    """)
        }
        database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write {
            try Self.checkVersion($0)
            try Self.removeUnusedTags($0)
            try $0.execute(sql: Self.schema)
        }
        guard let status = try FileStatus(of: path) else { throw FileFailure("find", path) }
        identity = status.identity
    }

    func close() throws { try database.close() }

    /// Gives up to 16 MiB of unused pages back to the file system. A file of an earlier version keeps them for later entries.
    func shrink() throws { try database.write { try $0.execute(sql: "PRAGMA incremental_vacuum(4096)") } }

    /// Runs `body`, which reads with one statement and changes nothing.
    ///
    /// GRDB's `read` enforces that with a pragma, after which SQLite compiles every statement again: a store took twice as long.
    func read<Answer>(_ body: (Database) throws -> Answer) throws -> Answer { try database.unsafeRead(body) }

    /// Runs `body` in a transaction that excludes writes of other processes and threads. If it throws, its changes are rolled back.
    func transaction<Answer>(_ body: (Database) throws -> Answer) throws -> Answer {
        try database.writeWithoutTransaction { database in
            var answer: Answer?
            try database.inTransaction(.immediate) {
                answer = try body(database)
                return .commit
            }
            guard let answer else { throw DatabaseError(resultCode: .SQLITE_ABORT, message: "the transaction returned nothing") }
            return answer
        }
    }

    /// A number for the whole index, such as the progress of indexing.
    func setting(_ name: String) throws -> String? {
        try read { try String.fetchOne($0, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name]) }
    }

    func set(_ value: String?, for name: String) throws {
        try transaction {
            try $0.execute(sql: "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", arguments: [name, value])
        }
    }

    /// Whether there is an entry called `name`, expired or not.
    func contains(_ name: Digest128) throws -> Bool {
        try read {
            try Bool.fetchOne(
                $0.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE name = ?)"), arguments: [Data(name.bytes)])
                ?? false
        }
    }

    /// The number and the bytes on disk of each kind's entries.
    func totals() throws -> [CacheKind: CacheRemoval] {
        try read { database in
            var totals: [CacheKind: CacheRemoval] = [:]
            for row in try Row.fetchAll(database.cachedStatement(sql: "SELECT kind, entries, bytes FROM total")) {
                if let kind = CacheKind(number: try row.number("kind")) {
                    totals[kind] = CacheRemoval(entries: try row.number("entries"), bytes: try row.number("bytes"))
                }
            }
            return totals
        }
    }

    /// Entries, bytes on disk, and the age of the oldest entry of each source.
    func held() throws -> [String: CacheFigures] {
        try read { database in
            var held: [String: CacheFigures] = [:]
            let sql =
                "SELECT *, (SELECT min(created) FROM entry WHERE entry.source = held.source) AS oldest FROM held WHERE entries > 0"
            for row in try Row.fetchAll(database, sql: sql) {
                var figures = CacheFigures()
                (figures.entries, figures.bytes) = (try row.number("entries"), try row.number("bytes"))
                figures.oldest = try row.decode(Double?.self, forColumn: "oldest").map { Date(timeIntervalSinceReferenceDate: $0) }
                held[try row.decode(forColumn: "source")] = figures
            }
            return held
        }
    }

    /// At most `limit` names after `name` and their keys, ordered by name.
    func keys(after name: Data, limit: Int) throws -> [(name: Data, key: CacheKey?)] {
        try read { database in
            try Row.fetchAll(
                database, sql: "SELECT name, kind, key FROM entry WHERE name > ? ORDER BY name LIMIT ?", arguments: [name, limit]
            ).map { (try $0.decode(forColumn: "name"), try $0.key()) }
        }
    }

    // The generation: a number that each purge raises, in any process.

    private static let purges = "purges"

    func generation() throws -> Int { try read { try Self.generation($0) } }

    /// Adds one to the generation.
    /// - Returns: the new generation.
    func raiseGeneration() throws -> Int {
        try transaction { database in
            let next = try Self.generation(database) &+ 1
            try database.execute(
                sql: "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", arguments: [Self.purges, "\(next)"])
            return next
        }
    }

    static func generation(_ database: Database) throws -> Int {
        let text = try String.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM setting WHERE name = ?"), arguments: [purges])
        return text.flatMap(Int.init) ?? 0
    }
}

extension CacheKind {
    /// The kind in the index.
    var number: Int {
        switch self {
        case .original: 0
        case .variant: 1
        case .metadata: 2
        }
    }

    init?(number: Int) {
        guard let kind = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = kind
    }
}
