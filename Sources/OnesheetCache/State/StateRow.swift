internal import GRDB

/// One value of the state.
struct StateRow: Hashable {
    let part: String
    let key: String
    let value: String

    static let schema = """
        CREATE TABLE IF NOT EXISTS state (
            part TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (part, key)
        ) WITHOUT ROWID
        """
    static let columns = ["part", "key", "value"]

    static func all(_ database: Database) throws -> [StateRow] {
        try Row.fetchAll(database, sql: "SELECT part, key, value FROM state").map(StateRow.init)
    }

    init(part: String, key: String, value: String) { (self.part, self.key, self.value) = (part, key, value) }

    init(_ row: Row) throws {
        self.init(
            part: try row.decode(forColumn: "part"), key: try row.decode(forColumn: "key"),
            value: try row.decode(forColumn: "value"))
    }

    func put(_ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO state (part, key, value) VALUES (?, ?, ?)", arguments: [part, key, value])
    }
}
