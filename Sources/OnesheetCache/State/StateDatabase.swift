internal import GRDB
internal import Logging
internal import OnesheetCore
internal import Synchronization

/// The values in a file, or in memory for as long as the file cannot be written: a full disk stops neither a start nor a request.
///
/// Memory begins with what the file says, and goes back into it with the first change that finds that it can be written. A file that
/// is found to be damaged, at the start or later, makes way for a new one with all that can be read of it.
final class StateDatabase: Sendable {
    private enum Place {
        case file(StateFile)
        /// `isWhole`: with all that the file says, so that nothing is lost when it replaces what is in the file.
        case memory(DatabaseQueue, isWhole: Bool)

        var queue: DatabaseQueue {
            switch self {
            case .file(let file): file.queue
            case .memory(let queue, _): queue
            }
        }
    }

    /// How often one operation looks for a place that works.
    private static let attempts = 5
    private let folder: String?
    private let clock: WallClock
    private let logger: Logger
    private let place: Mutex<Place>

    /// Values in memory only.
    init() throws {
        (folder, clock, logger) = (nil, .system, Logger(label: "onesheet.cache.state"))
        place = Mutex(.memory(try Self.memory(), isWhole: false))
    }

    init(folder: String, clock: WallClock, logger: Logger) throws {
        (self.folder, self.clock, self.logger) = (folder, clock, logger)
        do {
            place = Mutex(.file(try StateFile.opened(in: folder, now: clock.now, logger: logger)))
        } catch  where error.meansUnwritable || error.meansDamage || error is DatabaseError {
            place = Mutex(try Self.unwritten(in: folder))
            Self.say(error, logger)
        }
    }

    func read<Answer: Sendable>(_ body: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
        let place = current
        do {
            // Nothing is lost as long as this process has the file open, even if nobody else can find it.
            guard case .file(let file) = place, try file.isCurrent() == false else { return try await place.queue.read(body) }
            try await leave(file, nil)
        } catch {
            guard case .file(let file) = place, error.meansDamage else { throw error }
            try await leave(file, error)
        }
        return try await current.queue.read(body)
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
                // The values may have moved while this waited for its turn.
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

    /// Goes on in another file or in memory, with all that the file says.
    /// - Parameter reason: why it cannot be used; `nil` where another one has its name, or nothing has.
    private func leave(_ file: StateFile, _ reason: (any Error)?) async throws {
        guard let folder else { return }
        try await file.queue.writeWithoutTransaction { [self] values in
            guard isCurrent(file.queue) else { return }
            do {
                if let reason, !reason.meansDamage { throw reason }
                if let reason { try file.replace(in: folder, reason: reason, now: clock.now, logger: logger) }
                // Where the file was deleted, what was decided is not: this process still has it.
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

    /// All values, as far as they can be read.
    private static func known(_ values: Database) -> [StateRow] {
        do { return try StateRow.all(values) } catch { return [] }
    }

    /// Puts the values back into the file, where that is possible now.
    private func returnToFile() async throws {
        guard let folder, case .memory(let memory, let isWhole) = current else { return }
        do {
            try await memory.writeWithoutTransaction { [self] values in
                guard isCurrent(memory) else { return }
                let rows = try StateRow.all(values)
                let file = try StateFile.opened(in: folder, now: clock.now, logger: logger)
                try file.queue.write { database in
                    // What could not be read at first is not replaced, but for what was set since.
                    if isWhole { try database.execute(sql: "DELETE FROM state") }
                    for row in rows { try row.put(database) }
                }
                place.withLock { $0 = .file(file) }
                logger.notice("The state is in its file again")
            }
        } catch  where error.meansUnwritable || error.meansDamage || error is DatabaseError {
            // Not yet.
        }
    }

    private static func say(_ reason: any Error, _ logger: Logger) {
        logger.warning("The state (chosen posters, calls counted) is in memory until its file can be written: \(reason)")
    }

    /// What a file that cannot be written says, in memory.
    private static func unwritten(in folder: String) throws -> Place {
        let path = StateFile.path(in: folder)
        do {
            guard let status = try FileStatus(of: path) else { return .memory(try memory(), isWhole: true) }
            let rows = StateSalvage.rows(of: path)
            // One that could only just be made has nothing in it.
            return .memory(try memory(rows), isWhole: !rows.isEmpty || status.size == 0)
        } catch {
            // The folder cannot be looked into.
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
