internal import GRDB
internal import Logging
internal import Synchronization

/// The values in a file, or in memory for as long as the file cannot be written: a full disk stops neither a start nor a request.
///
/// Memory begins with what the file says, and goes back into it with the first change that finds that it can be written.
final class StateDatabase: Sendable {
    private enum Place {
        case file(DatabaseQueue)
        /// `isWhole`: with all that the file says, so that nothing is lost when it replaces the file.
        case memory(DatabaseQueue, isWhole: Bool)

        var queue: DatabaseQueue {
            switch self {
            case .file(let queue), .memory(let queue, _): queue
            }
        }
    }

    private let folder: String?
    private let logger: Logger
    private let place: Mutex<Place>

    /// Values in memory only.
    init() throws {
        (folder, logger) = (nil, Logger(label: "onesheet.cache.state"))
        place = Mutex(.memory(try Self.memory(), isWhole: false))
    }

    init(folder: String, logger: Logger) throws {
        (self.folder, self.logger) = (folder, logger)
        do {
            place = Mutex(.file(try Self.file(in: folder)))
        } catch  where error.meansUnwritable {
            place = Mutex(Self.unwritten(in: folder, with: try Self.memory(), logger: logger))
            Self.say(error, logger)
        }
    }

    func read<Answer: Sendable>(_ body: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
        try await current.queue.read(body)
    }

    func write<Answer: Sendable>(_ body: @escaping @Sendable (Database) throws -> Answer) async throws -> Answer {
        try await returnToFile()
        while true {
            let place = current
            do {
                // The values may have moved while this waited for its turn.
                let answer = try await place.queue.write { [self] in try isCurrent(place.queue) ? body($0) : nil }
                if let answer { return answer }
            } catch {
                guard case .file(let file) = place, error.meansUnwritable else { throw error }
                try await leave(file, error)
            }
        }
    }

    private var current: Place { place.withLock { $0 } }
    private func isCurrent(_ queue: DatabaseQueue) -> Bool { current.queue === queue }

    /// Goes on in memory with all that is in the file.
    private func leave(_ file: DatabaseQueue, _ reason: any Error) async throws {
        let memory = try Self.memory()
        try await file.writeWithoutTransaction { [self] file in
            guard case .file = current else { return }
            try memory.writeWithoutTransaction { try file.backup(to: $0) }
            place.withLock { $0 = .memory(memory, isWhole: true) }
            Self.say(reason, logger)
        }
    }

    /// Puts the values back into the file, where that is possible now.
    private func returnToFile() async throws {
        guard let folder, case .memory(let memory, isWhole: true) = current else { return }
        do {
            try await memory.writeWithoutTransaction { [self] values in
                guard isCurrent(memory) else { return }
                let file = try Self.file(in: folder)
                try file.writeWithoutTransaction { try values.backup(to: $0) }
                place.withLock { $0 = .file(file) }
                logger.notice("The state is in its file again")
            }
        } catch  where error.meansUnwritable {
            // Not yet.
        }
    }

    private static func say(_ reason: any Error, _ logger: Logger) {
        logger.warning("The state (chosen posters, calls counted) is in memory until its file can be written: \(reason)")
    }

    /// What a file that cannot be written says, in memory.
    private static func unwritten(in folder: String, with memory: DatabaseQueue, logger: Logger) -> Place {
        do {
            guard try FileStatus(of: path(in: folder)) != nil else { return .memory(memory, isWhole: true) }
            var configuration = Configuration()
            configuration.readonly = true
            try DatabaseQueue(path: path(in: folder), configuration: configuration).backup(to: memory)
            // A file that could only just be made has no table yet, and now memory has none either.
            _ = try prepared(memory)
            return .memory(memory, isWhole: true)
        } catch {
            logger.warning("The state begins empty and is not written until the server is started again: \(error)")
            return .memory(memory, isWhole: false)
        }
    }

    private static func path(in folder: String) -> String { "\(folder)/state.sqlite" }

    private static func memory() throws -> DatabaseQueue { try prepared(DatabaseQueue()) }

    private static func file(in folder: String) throws -> DatabaseQueue {
        try Files.makeFolders(folder)
        var configuration = Configuration()
        // Another process with the same folder may be writing: wait for it rather than fail.
        configuration.busyMode = .timeout(5)
        // With a rollback journal the file can be read where nothing can be written.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = PERSIST") }
        return try prepared(DatabaseQueue(path: path(in: folder), configuration: configuration))
    }

    private static func prepared(_ database: DatabaseQueue) throws -> DatabaseQueue {
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS state (
                        part TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (part, key)
                    ) WITHOUT ROWID
                    """)
        }
        return database
    }
}
