internal import GRDB
internal import Logging
internal import OnesheetCore
internal import Synchronization

/// The values in a file, or in memory while the file cannot be written: the server starts and answers even if the disk is full.
///
/// Memory starts with the file's values, and is written back by the first change that finds the file writable. A damaged file is
/// replaced, at the start or later, by a new one with all readable values.
final class StateDatabase: Sendable {
    private enum Place {
        case file(StateFile)
        /// `isWhole`: it has all values of the file, so it may replace the file's contents.
        case memory(DatabaseQueue, isWhole: Bool)

        var queue: DatabaseQueue {
            switch self {
            case .file(let file): file.queue
            case .memory(let queue, _): queue
            }
        }

        var file: StateFile? {
            if case .file(let file) = self { file } else { nil }
        }
    }

    /// The number of attempts of one operation to find a usable place.
    private static let attempts = 5
    private let folder: String?
    private let clock: WallClock
    private let logger: Logger
    private let place: Mutex<Place>
    private let memory = StateMemory()
    private let settling: Duration

    /// Values in memory only.
    init() throws {
        folder = nil
        clock = .system
        logger = Logger(label: "onesheet.cache.state")
        settling = .zero
        place = Mutex(.memory(try Self.memory(), isWhole: false))
    }

    /// - Parameter settling: the time after a change in which the next one may leave the file's status as it is.
    init(folder: String, clock: WallClock, settling: Duration, logger: Logger) throws {
        self.folder = folder
        self.clock = clock
        self.logger = logger
        self.settling = settling
        do {
            place = Mutex(.file(try StateFile.opened(in: folder, now: clock.now, logger: logger)))
        } catch  where error.meansUnwritable || error.meansDamage || error is DatabaseError {
            place = Mutex(try Self.unwritten(in: folder))
            Self.say(error, logger)
        }
    }

    /// The values for `keys`, in order. Reads nothing if the file has not changed since they were read last.
    func values(for keys: [String], of part: String) async throws -> [String?] {
        if let status = current.file?.status(), let known = memory.values(for: keys, of: part, at: status) { return known }
        return try await read { [memory, settling] database, file in
            try memory.read(keys, of: part, in: database) { file?.settledStatus(after: settling) }
        }
    }

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (Database, _ file: StateFile?) throws -> Answer
    ) async throws -> Answer {
        let place = current
        do {
            // Nothing is lost while this process has the file open, even if no other process can find it.
            guard case .file(let file) = place, try file.isCurrent() == false else { return try await Self.read(place, body) }
            try await leave(file, nil)
        } catch {
            guard case .file(let file) = place, error.meansDamage else { throw error }
            try await leave(file, error)
        }
        return try await Self.read(current, body)
    }

    private static func read<Answer: Sendable>(
        _ place: Place, _ body: @escaping @Sendable (Database, _ file: StateFile?) throws -> Answer
    ) async throws -> Answer {
        try await place.queue.read { try body($0, place.file) }
    }

    func write<Answer: Sendable>(_ body: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
        try await returnToFile()
        var attempts = 0
        while true {
            let place = current
            attempts += 1
            do {
                if case .file(let file) = place, try file.isCurrent() != true {
                    try await leave(file, nil)
                    if attempts < Self.attempts { continue }
                }
                // The values may have moved while this operation waited.
                let answer = try await place.queue.write { [self] in try isCurrent(place.queue) ? body($0) : nil }
                if let answer { return answer }
            } catch {
                guard attempts < Self.attempts, case .file(let file) = place, error.meansUnwritable || error.meansDamage else {
                    throw error
                }
                try await leave(file, error)
            }
        }
    }

    private var current: Place { place.withLock { $0 } }
    private func isCurrent(_ queue: DatabaseQueue) -> Bool { current.queue === queue }

    /// Continues in another file or in memory, with all values of the file.
    /// - Parameter reason: why it is unusable; `nil` if the file was replaced or deleted.
    private func leave(_ file: StateFile, _ reason: (any Error)?) async throws {
        guard let folder else { return }
        try await file.queue.writeWithoutTransaction { [self] values in
            guard isCurrent(file.queue) else { return }
            do {
                if let reason, !reason.meansDamage { throw reason }
                if let reason { try file.replace(in: folder, reason: reason, now: clock.now, logger: logger) }
                // If the file was deleted, its values are not lost: this process still has it open.
                let known = reason == nil ? Self.known(values) : []
                if try reason == nil && file.isCurrent() == nil {
                    try Files.makeFolders(folder)
                    try StateFile.make(in: folder, known)
                }
                let next = try StateFile.opened(in: folder, knowing: known, now: clock.now, logger: logger)
                place.withLock { $0 = .file(next) }
            } catch  where error.meansUnwritable {
                let rows =
                    reason?.meansDamage == true ? StateSalvage.rows(of: StateFile.path(in: folder)) : try StateRow.all(values)
                let memory = try Self.memory(rows)
                place.withLock { $0 = .memory(memory, isWhole: true) }
                Self.say(error, logger)
            }
        }
    }

    /// All readable values.
    private static func known(_ values: Database) -> [StateRow] {
        do { return try StateRow.all(values) } catch { return [] }
    }

    /// Writes the values back into the file, if that is possible now.
    private func returnToFile() async throws {
        guard let folder, case .memory(let memory, let isWhole) = current else { return }
        do {
            try await memory.writeWithoutTransaction { [self] values in
                guard isCurrent(memory) else { return }
                let rows = try StateRow.all(values)
                let file = try StateFile.opened(in: folder, now: clock.now, logger: logger)
                try file.queue.write { database in
                    // Values that could not be read at first are kept, except for later changes.
                    if isWhole { try database.execute(sql: "DELETE FROM state") }
                    for row in rows { try row.put(database) }
                }
                place.withLock { $0 = .file(file) }
                logger.notice("the state is stored in its file again")
            }
        } catch  where error.meansUnwritable || error.meansDamage || error is DatabaseError {
            // Not yet.
        }
    }

    private static func say(_ reason: any Error, _ logger: Logger) {
        logger.warning("the state (chosen posters, counted calls) stays in memory until its file can be written: \(reason)")
    }

    /// A copy in memory of a file that cannot be written.
    private static func unwritten(in folder: String) throws -> Place {
        let path = StateFile.path(in: folder)
        do {
            guard let status = try FileStatus(of: path) else { return .memory(try memory(), isWhole: true) }
            let rows = StateSalvage.rows(of: path)
            // A file that could only just be made is empty.
            return .memory(try memory(rows), isWhole: !rows.isEmpty || status.size == 0)
        } catch {
            // The folder cannot be read.
            return .memory(try memory(), isWhole: false)
        }
    }

    private static func memory(_ rows: [StateRow] = []) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { database in
            try database.execute(sql: StateRow.schema)
            for row in rows { try row.put(database) }
        }
        return queue
    }
}

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

    init(part: String, key: String, value: String) {
        self.part = part
        self.key = key
        self.value = value
    }

    init(_ row: Row) throws {
        self.init(
            part: try row.decode(forColumn: "part"), key: try row.decode(forColumn: "key"),
            value: try row.decode(forColumn: "value"))
    }

    static func value(for key: String, of part: String, in database: Database) throws -> String? {
        try String.fetchOne(database, sql: "SELECT value FROM state WHERE part = ? AND key = ?", arguments: [part, key])
    }

    func put(_ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO state (part, key, value) VALUES (?, ?, ?)", arguments: [part, key, value])
    }
}
