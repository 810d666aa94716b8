internal import FoundationEssentials
internal import GRDB
package import OnesheetCore

/// Small values that survive a restart, in one SQLite file: each plugin sees its own part.
package struct StateStore: Sendable {
    private let database: any DatabaseWriter

    /// Values that last as long as the object.
    package init() throws(CacheError) {
        do {
            database = try DatabaseQueue()
            try Self.prepare(database)
        } catch {
            throw .index(operation: "open a state in memory, part of", reason: "\(error)")
        }
    }

    /// Opens the file `state.sqlite` in `folder`, made when it is not there.
    package init(folder: String) throws(CacheError) {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw .fileSystem(operation: "make the folder", path: folder, reason: "\(error)")
        }
        do {
            var configuration = Configuration()
            // Another process with the same folder may be writing: wait for it rather than fail.
            configuration.busyMode = .timeout(5)
            database = try DatabasePool(path: folder + "/state.sqlite", configuration: configuration)
            try Self.prepare(database)
        } catch {
            throw .index(operation: "open \(folder)/state.sqlite, part of", reason: "\(error)")
        }
    }

    private static func prepare(_ database: any DatabaseWriter) throws {
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS state (
                        part TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (part, key)
                    ) WITHOUT ROWID
                    """)
        }
    }

    /// The values that belong to `name`.
    package func part(_ name: String) -> StatePart { StatePart(database: database, name: name) }
}

/// The values of one name.
package struct StatePart: KeyValueState {
    fileprivate let database: any DatabaseWriter
    fileprivate let name: String

    package func value(for key: String) async throws -> String? {
        try await database.read { try Self.value(for: key, of: name, in: $0) }
    }

    package func set(_ value: String?, for key: String) async throws { try await change(key) { _ in value } }

    /// Puts what `body` makes of the value in its place; nobody else changes it meanwhile, no other process either.
    @discardableResult
    package func change(_ key: String, _ body: @escaping @Sendable (String?) throws -> String?) async throws -> String? {
        try await database.write { database in
            let value = try body(try Self.value(for: key, of: name, in: database))
            if let value {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO state (part, key, value) VALUES (?, ?, ?)", arguments: [name, key, value])
            } else {
                try database.execute(sql: "DELETE FROM state WHERE part = ? AND key = ?", arguments: [name, key])
            }
            return value
        }
    }

    private static func value(for key: String, of name: String, in database: Database) throws -> String? {
        try String.fetchOne(database, sql: "SELECT value FROM state WHERE part = ? AND key = ?", arguments: [name, key])
    }
}
