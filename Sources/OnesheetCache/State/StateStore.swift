internal import GRDB
package import Logging
package import OnesheetCore

/// Small values that survive a restart, in one SQLite file. Each plugin sees only its own.
package struct StateStore: Sendable {
    private let database: StateDatabase

    /// Values with the lifetime of the object.
    package init() throws(CacheError) {
        do {
            database = try StateDatabase()
        } catch {
            throw .index(operation: "open a state in memory, part of", reason: "\(error)")
        }
    }

    /// Opens or makes the file `state.sqlite` in `folder`. While it cannot be written, values stay in memory. A damaged file is set
    /// aside, and its readable values go into a new one.
    /// - Parameter settling: the time after a change in which values are read from the file each time. It is longer than the steps in
    ///   which any file system counts.
    package init(
        folder: String, clock: WallClock = .system, settling: Duration = .seconds(3),
        logger: Logger = Logger(label: "onesheet.cache.state")
    ) throws(CacheError) {
        do {
            database = try StateDatabase(folder: folder, clock: clock, settling: settling, logger: logger)
        } catch {
            throw .index(operation: "open \(folder)/state.sqlite, part of", reason: "\(error)")
        }
    }

    /// The values of `name`.
    package func part(_ name: String) -> StatePart { StatePart(database: database, name: name) }
}

/// The values of one name.
package struct StatePart: KeyValueState {
    fileprivate let database: StateDatabase
    fileprivate let name: String

    package func value(for key: String) async throws -> String? { try await values(for: [key])[0] }

    /// The values for `keys`, in order and of one moment.
    package func values(for keys: [String]) async throws -> [String?] { try await database.values(for: keys, of: name) }

    package func set(_ value: String?, for key: String) async throws { try await change(key) { _ in value } }

    /// Replaces the value by the result of `body`. No other thread or process changes it meanwhile.
    @discardableResult
    package func change(_ key: String, _ body: @escaping @Sendable (String?) throws -> String?) async throws -> String? {
        try await update(key) { value in
            value = try body(value)
            return value
        }
    }

    /// Changes the value in place. No other thread or process changes it meanwhile. An unchanged value is not written.
    package func update<Answer: Sendable>(
        _ key: String, _ body: @escaping @Sendable (inout String?) throws -> Answer
    ) async throws -> Answer {
        try await database.write { database in
            let before = try StateRow.value(for: key, of: name, in: database)
            var value = before
            let answer = try body(&value)
            guard before.map({ Array($0.utf8) }) != value.map({ Array($0.utf8) }) else { return answer }
            if let value {
                try StateRow(part: name, key: key, value: value).put(database)
            } else {
                try database.execute(sql: "DELETE FROM state WHERE part = ? AND key = ?", arguments: [name, key])
            }
            return answer
        }
    }

    /// The values that are not like `form`, with their keys.
    package func values(unlike form: ValueForm) async throws -> [(key: String, value: String)] {
        try await database.read { database, _ in
            let rows = try Row.fetchAll(
                database, sql: "SELECT key, value FROM state WHERE part = ? AND NOT (\(form.condition))",
                arguments: StatementArguments([name] + form.texts))
            return rows.map { (key: $0["key"], value: $0["value"]) }
        }
    }

    /// If all values together exceed `bytes`, removes about one in sixteen of those that are like `form`. It removes
    /// arbitrary ones, because all are worth the same.
    /// - Returns: the number of removed values.
    @discardableResult
    package func trim(above bytes: Int, like form: ValueForm) async throws -> Int {
        try await database.write { database in
            let sum = "SELECT ifnull(sum(length(CAST(value AS BLOB))), 0) FROM state WHERE part = ?"
            guard let used = try Int.fetchOne(database, sql: sum, arguments: [name]), used > bytes else { return 0 }
            try database.execute(
                sql: "DELETE FROM state WHERE part = ? AND abs(random() % 16) = 0 AND \(form.condition)",
                arguments: StatementArguments([name] + form.texts))
            return database.changesCount
        }
    }
}

/// A form of values that shows without reading them: those that contain each of some texts, and none of others.
package struct ValueForm: Sendable {
    private let contained: [String]
    private let lacked: [String]

    package init(containing contained: [String], lacking lacked: [String] = []) {
        self.contained = contained
        self.lacked = lacked
    }

    fileprivate var condition: String {
        (contained.map { _ in "instr(value, ?) > 0" } + lacked.map { _ in "instr(value, ?) = 0" }).joined(separator: " AND ")
    }

    /// In the order of the condition.
    fileprivate var texts: [String] { contained + lacked }
}
