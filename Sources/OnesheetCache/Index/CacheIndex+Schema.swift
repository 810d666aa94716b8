internal import GRDB
internal import OnesheetCore

extension CacheIndex {
    /// Which columns the tables have that we make.
    private static let columns = [
        "entry": "name kind key bytes cost created stored ends uses rank token source", "tag": "id text", "tagged": "tag name",
        "setting": "name value", "total": "kind entries bytes inflation", "held": "source entries bytes",
    ]

    /// Makes sure that what is there is empty or has our tables. A program that changes them has to change `user_version` too, which
    /// is 0 until then.
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

    /// `entry.rank` decides who goes first (`EvictionRank`); `total` and `held`, by source, are kept by triggers, so that neither opening
    /// nor asking for figures counts anything.
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
        """
}

/// Reading what may be damaged: a value of another type is an error, where GRDB's subscripts would end the process.
extension Row {
    /// A count or a size that can be one: sums of a million of them do not overflow.
    func number(_ column: String) throws -> Int {
        let number = try decode(Int.self, forColumn: column)
        guard 0...1 << 42 ~= number else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "\(column) is \(number)")
        }
        return number
    }

    /// The key that the columns `kind` and `key` say; `nil` where no kind of ours is meant.
    func key() throws -> CacheKey? {
        guard let kind = CacheKind(number: try number("kind")) else { return nil }
        return CacheKey(kind, try decode(String.self, forColumn: "key"))
    }
}
