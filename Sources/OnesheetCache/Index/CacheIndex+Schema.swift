extension CacheIndex {
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
