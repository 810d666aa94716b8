internal import GRDB
internal import NIOCore

/// Checks a SQLite file before SQLite opens it. SQLite follows links, accepts a pipe as a file, makes files that others may read,
/// and replays a write-ahead log that belongs to another database.
struct DatabaseFile {
    let path: String
    /// The suffixes of SQLite's other files.
    static let companions = ["-journal", "-wal", "-shm"]

    /// Makes an empty database that only its owner may read. SQLite gives its other files the same permissions.
    func make() throws(FileFailure) { _ = try OpenFile(path, for: .writing) }

    /// Removes the permissions of other users, and checks that the files are regular files.
    /// - Throws: `FileFailure` for one that is not, `DatabaseError` if there is a write-ahead log although the database has none.
    func check() throws {
        for name in [path] + Self.companions.map({ path + $0 }) {
            guard let status = try FileStatus(of: name) else { continue }
            guard status.isFile else { throw FileFailure("open", name, code: FileFailure.notAFile) }
            try Files.tighten(name)
        }
        guard try FileStatus(of: path + "-wal") != nil, try !saysThatItHasLog() else { return }
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "there is a write-ahead log of another database")
    }

    /// Removes the database and SQLite's files beside it.
    func remove() throws(FileFailure) {
        for name in [path] + Self.companions.map({ path + $0 }) { try Files.clear(name) }
    }

    /// Whether the database header announces a write-ahead log (https://www.sqlite.org/fileformat.html, bytes 18 and 19).
    private func saysThatItHasLog() throws(FileFailure) -> Bool {
        let start = Array(try Files.contents(of: path, limit: 20).readableBytesView)
        return start.count == 20 && start[18] == 2 && start[19] == 2
    }
}

extension Error {
    /// Whether it means that a database is damaged or foreign.
    var meansDamage: Bool {
        switch self {
        case let failure as FileFailure: failure.isNotAFile
        case let failure as DatabaseError:
            switch failure.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_MISMATCH, .SQLITE_FORMAT: true
            default: failure.extendedResultCode == .SQLITE_IOERR_SHORT_READ || failure.extendedResultCode == .SQLITE_IOERR_READ
            }
        default: self is RowDecodingError
        }
    }
}
