internal import FoundationEssentials
internal import GRDB
internal import OnesheetCore

extension CacheIndex {
    /// The columns of the tables.
    private static let columns = [
        "entry": "name kind key bytes cost created stored ends uses rank token source", "tag": "id text", "tagged": "tag name",
        "setting": "name value", "total": "kind entries bytes inflation", "held": "source entries bytes",
    ]

    /// Checks that the database is empty or has these tables. A version that changes them must change `user_version`, which is 0 so
    /// far.
    static func checkVersion(_ database: Database) throws {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard version == 0 else {
            throw DatabaseError(resultCode: .SQLITE_FORMAT, message: "a newer Onesheet wrote it (version \(version))")
        }
        for (table, expected) in columns {
            let found = try String.fetchAll(database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table])
            guard found.isEmpty || found.joined(separator: " ") == expected else {
                throw DatabaseError(resultCode: .SQLITE_FORMAT, message: "its table “\(table)” is not ours")
            }
        }
    }

    /// `entry.rank` is the order of eviction (`EvictionRank`). Triggers maintain `total` and `held` by source, so that neither
    /// opening nor reading counts has to count rows.
    static let schema = """
        CREATE TABLE IF NOT EXISTS entry (
            name BLOB PRIMARY KEY, kind INTEGER NOT NULL, key TEXT NOT NULL, bytes INTEGER NOT NULL, cost REAL NOT NULL,
            created REAL NOT NULL, stored REAL NOT NULL, ends REAL, uses INTEGER NOT NULL, rank REAL NOT NULL, token INTEGER NOT NULL,
            source TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS entry_age ON entry (source, created);
        CREATE INDEX IF NOT EXISTS entry_rank ON entry (kind, rank);
        CREATE INDEX IF NOT EXISTS entry_ends ON entry (ends) WHERE ends IS NOT NULL;
        CREATE TABLE IF NOT EXISTS tag (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
        CREATE TABLE IF NOT EXISTS tagged (tag INTEGER NOT NULL, name BLOB NOT NULL, PRIMARY KEY (tag, name)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS tagged_name ON tagged (name);
        CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS total (
            kind INTEGER PRIMARY KEY, entries INTEGER NOT NULL, bytes INTEGER NOT NULL, inflation REAL NOT NULL
        );
        INSERT OR IGNORE INTO total VALUES (0, 0, 0, 0), (1, 0, 0, 0), (2, 0, 0, 0);
        CREATE TABLE IF NOT EXISTS held (source TEXT PRIMARY KEY, entries INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TRIGGER IF NOT EXISTS entry_added AFTER INSERT ON entry BEGIN
            UPDATE total SET entries = entries + 1, bytes = bytes + new.bytes WHERE kind = new.kind;
            INSERT INTO held VALUES (new.source, 1, new.bytes)
                ON CONFLICT DO UPDATE SET entries = entries + 1, bytes = bytes + new.bytes;
        END;
        CREATE TRIGGER IF NOT EXISTS entry_removed AFTER DELETE ON entry BEGIN
            UPDATE total SET entries = entries - 1, bytes = bytes - old.bytes WHERE kind = old.kind;
            UPDATE held SET entries = entries - 1, bytes = bytes - old.bytes WHERE source = old.source;
            DELETE FROM tagged WHERE name = old.name;
        END;
        CREATE TRIGGER IF NOT EXISTS tagged_removed AFTER DELETE ON tagged BEGIN
            DELETE FROM tag WHERE id = old.tag AND NOT EXISTS (SELECT 1 FROM tagged WHERE tag = old.tag);
        END;
        """

    /// Removes the tags of no entry that versions without the trigger `tagged_removed` have left.
    static func removeUnusedTags(_ database: Database) throws {
        let isOld = try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'tagged')
                AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'tagged_removed')
                """)
        guard isOld ?? false else { return }
        try database.execute(sql: "DELETE FROM tag WHERE NOT EXISTS (SELECT 1 FROM tagged WHERE tagged.tag = tag.id)")
    }
}

/// Reads values that may be damaged. A wrong type is an error; GRDB's subscripts would end the process.
extension Row {
    /// A plausible count or size: sums of a million of them do not overflow.
    func number(_ column: String) throws -> Int {
        let number = try decode(Int.self, forColumn: column)
        guard 0...1 << 42 ~= number else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "\(column) is \(number)")
        }
        return number
    }

    /// The key in the columns `kind` and `key`; `nil` if the kind is unknown.
    func key() throws -> CacheKey? {
        guard let kind = CacheKind(number: try number("kind")) else { return nil }
        return CacheKey(kind, try decode(String.self, forColumn: "key"))
    }
}

/// The index row of an entry.
struct IndexRow {
    let name: Digest128
    let key: CacheKey
    /// On disk, in whole blocks: the file, and what the index has of it.
    let bytes: Int
    let cost: Double
    let created: Date
    let stored: Date
    let end: Date?
    let tags: [CacheTag]

    /// - Parameter length: the length of the entry's file.
    init(name: Digest128, key: CacheKey, entry: CacheEntry, length: Int, stored: Date, end: Date?) {
        self.name = name
        self.key = key
        self.stored = stored
        self.end = end
        // The index has a tag once for all its entries, but a made-up title has its own.
        let texts = entry.tags.reduce(Self.indexed(key.text)) { $0 + $1.description.utf8.count + Self.indexed($1.description) }
        bytes = (length + texts + 4095) / 4096 * 4096
        cost = entry.cost.isFinite ? max(entry.cost, 0) : 0
        created = entry.created
        tags = entry.tags
    }

    /// The bytes that an index of the database takes for `text`. One beyond a quarter of a page has pages of its own.
    private static func indexed(_ text: String) -> Int {
        let bytes = text.utf8.count
        return bytes < 1000 ? bytes : bytes / 4096 * 4096 + 4096 + 512
    }

    /// Inserts the row, or replaces the one with its name.
    func put(_ database: Database, token: Int64) throws {
        let name = Data(self.name.bytes)
        // Not REPLACE, which would not run the trigger that counts removed rows.
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
