internal import FoundationEssentials
internal import GRDB
package import OnesheetCore

/// Small values that survive a restart, in one SQLite file: each plugin sees its own part.
package struct StateStore: Sendable {
    private let database: DatabasePool

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
            try database.write {
                try $0.execute(
                    sql: """
                        CREATE TABLE IF NOT EXISTS state (
                            part TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (part, key)
                        ) WITHOUT ROWID
                        """)
            }
        } catch {
            throw .index(operation: "open \(folder)/state.sqlite, part of", reason: "\(error)")
        }
    }

    /// The values that belong to `name`.
    package func part(_ name: String) -> any KeyValueState { StatePart(database: database, name: name) }
}

private struct StatePart: KeyValueState {
    let database: DatabasePool
    let name: String

    func value(for key: String) async throws -> String? {
        try await database.read {
            try String.fetchOne($0, sql: "SELECT value FROM state WHERE part = ? AND key = ?", arguments: [name, key])
        }
    }

    func set(_ value: String?, for key: String) async throws {
        try await database.write { database in
            if let value {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO state (part, key, value) VALUES (?, ?, ?)", arguments: [name, key, value])
            } else {
                try database.execute(sql: "DELETE FROM state WHERE part = ? AND key = ?", arguments: [name, key])
            }
        }
    }
}
