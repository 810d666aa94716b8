internal import FoundationEssentials
internal import GRDB
internal import Logging
internal import OnesheetCore

/// The open and intact file of the state.
struct StateFile {
    let queue: DatabaseQueue
    private let path: String
    private let identity: FileStatus.Identity

    static func path(in folder: String) -> String { "\(folder)/state.sqlite" }

    /// Opens or makes the file in `folder`. Sets a damaged one aside and puts its readable values into the new one.
    /// - Parameter known: the values in this process, in case nothing can be read.
    static func opened(in folder: String, knowing known: [StateRow] = [], now: Date, logger: Logger) throws -> StateFile {
        try Files.makeFolders(folder)
        let path = path(in: folder)
        var failure: any Error = FileFailure("open", path, code: FileFailure.absence)
        // Another process may do the same at this moment. One more attempt suffices.
        for _ in 0..<3 {
            guard let found = try FileStatus(of: path) else {
                try make(in: folder)
                continue
            }
            do {
                return try StateFile(path)
            } catch  where error.meansDamage {
                failure = error
                try replace(found.identity, in: folder, knowing: known, reason: error, now: now, logger: logger)
            }
        }
        throw failure
    }

    /// - Throws: an error that `meansDamage` if it is damaged or foreign.
    private init(_ path: String) throws {
        try DatabaseFile(path: path).check()
        var configuration = Configuration()
        // Another process with the same folder may be writing: wait for it rather than fail.
        configuration.busyMode = .timeout(5)
        // A file with a rollback journal can be read on a read-only disk.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = PERSIST") }
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { database in
            try Self.check(database)
            try database.execute(sql: StateRow.schema)
        }
        guard let status = try FileStatus(of: path) else { throw FileFailure("find", path) }
        self.path = path
        identity = status.identity
    }

    /// Whether the path still names this file; `nil` if it names nothing.
    func isCurrent() throws(FileFailure) -> Bool? { try FileStatus(of: path).map { $0.identity == identity } }

    /// The status of this file; `nil` if the path does not name it, or if the status cannot be read.
    func status() -> FileStatus? {
        do throws(FileFailure) {
            guard let status = try FileStatus(of: path), status.identity == identity else { return nil }
            return status
        } catch {
            return nil
        }
    }

    /// The same, if the last change was longer ago than `time`. File systems count the time of a change in steps, of milliseconds to
    /// seconds, so that of two changes in one step the second cannot be seen.
    func settledStatus(after time: Duration) -> FileStatus? {
        guard let status = status() else { return nil }
        // The clock of the file system, whichever one tests inject.
        let now = Duration.seconds(WallClock.system.now.timeIntervalSince1970)
        return now - .nanoseconds(status.changed) > time ? status : nil
    }

    /// Sets this damaged file aside, unless another process has done so.
    func replace(in folder: String, reason: any Error, now: Date, logger: Logger) throws {
        try Self.replace(identity, in: folder, reason: reason, now: now, logger: logger)
    }

    /// Makes the file with these values, if there is none.
    static func make(in folder: String, _ rows: [StateRow] = []) throws {
        let lock = try FolderLock(waitingFor: "\(folder)/lock")
        guard try FileStatus(of: path(in: folder)) == nil else { return }
        try write(rows, in: folder)
        withExtendedLifetime(lock) {}
    }

    private static func replace(
        _ damaged: FileStatus.Identity, in folder: String, knowing known: [StateRow] = [], reason: any Error, now: Date,
        logger: Logger
    ) throws {
        let path = path(in: folder)
        let lock = try FolderLock(waitingFor: "\(folder)/lock")
        guard try FileStatus(of: path)?.identity == damaged else { return }
        let read = StateSalvage.rows(of: path)
        let rows = read.isEmpty ? known : read
        // A write-ahead log of another database goes with it.
        var place = ""
        try write(rows, in: folder) {
            place = try Files.setAside(path, with: DatabaseFile.companions, now: now)
        }
        logger.error(
            """
            the state was damaged; \(rows.count) of its values (pinned and rejected posters, blocked pictures, calls counted) could be \
            read and are kept. Look through them with `onesheet sources posters` and `onesheet sources block`, or put a copy of \
            state.sqlite in place while the server is stopped
            """, metadata: ["reason": "\(reason)", "kept as": "\(place)"])
        withExtendedLifetime(lock) {}
    }

    /// Writes the file under another name first, so that readers find it complete or not at all.
    /// - Parameter clear: frees the name; called once everything is written.
    private static func write(_ rows: [StateRow], in folder: String, clear: () throws -> Void = {}) throws {
        let path = path(in: folder)
        let new = DatabaseFile(path: path + ".new")
        try new.remove()
        do {
            try new.make()
            let queue = try DatabaseQueue(path: new.path)
            try queue.write { database in
                try database.execute(sql: StateRow.schema)
                for row in rows { try row.put(database) }
            }
            try queue.close()
            try clear()
            try Files.move(new.path, to: path)
        } catch {
            let failure = error
            do { try new.remove() } catch { throw failure }
            throw failure
        }
        try new.remove()
    }

    /// Checks that the database is intact and has this schema.
    private static func check(_ database: Database) throws {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard version == 0 else {
            throw DatabaseError(resultCode: .SQLITE_FORMAT, message: "a newer Onesheet wrote it (version \(version))")
        }
        let tables = try String.fetchAll(
            database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        let columns = try String.fetchAll(database, sql: "SELECT name FROM pragma_table_info('state')")
        guard tables.isEmpty || tables == ["state"], columns.isEmpty || columns == StateRow.columns else {
            throw DatabaseError(resultCode: .SQLITE_FORMAT, message: "its tables are not those of a state")
        }
        guard !tables.isEmpty else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "it is empty")
        }
        let finding = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        guard finding == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: finding) }
    }
}
