internal import GRDB
internal import NIOCore

/// A file of SQLite's in a folder of ours, looked at before SQLite opens it: SQLite follows links, takes a pipe for a file, lets others
/// read what it makes, and replays a write-ahead log whatever database it was written for.
struct DatabaseFile {
    let path: String
    /// What the names of SQLite's other files have after the database's own.
    static let companions = ["-journal", "-wal", "-shm"]

    /// Makes an empty database that only its owner may read. SQLite gives its other files the same permissions.
    func make() throws(FileFailure) { _ = try OpenFile(path, for: .writing) }

    /// Takes the rights of others from the files, and makes sure that they are files.
    /// - Throws: `FileFailure` that names the one that is none, `DatabaseError` where a write-ahead log is there that this database
    ///   does not have.
    func check() throws {
        for name in [path] + Self.companions.map({ path + $0 }) {
            guard let status = try FileStatus(of: name) else { continue }
            guard status.isFile else { throw FileFailure("open", name, code: FileFailure.notAFile) }
            try Files.tighten(name)
        }
        guard try FileStatus(of: path + "-wal") != nil, try !saysThatItHasLog() else { return }
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "there is a write-ahead log of another database")
    }

    /// Removes it and what SQLite keeps beside it.
    func remove() throws(FileFailure) {
        for name in [path] + Self.companions.map({ path + $0 }) { try Files.clear(name) }
    }

    /// Whether the database says that it has a write-ahead log (https://www.sqlite.org/fileformat.html, bytes 18 and 19).
    private func saysThatItHasLog() throws(FileFailure) -> Bool {
        let start = Array(try Files.contents(of: path, limit: 20).readableBytesView)
        return start.count == 20 && start[18] == 2 && start[19] == 2
    }
}

extension Error {
    /// Whether it says that a database is not as SQLite and we wrote it.
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
