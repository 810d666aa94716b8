#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import GRDB
internal import OnesheetCore

/// A failed file operation.
struct FileFailure: Error, Equatable {
    let operation: String
    let path: String
    let code: Int32

    init(_ operation: String, _ path: String, code: Int32 = errno) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// Not an error of the system: the path exists and is not a regular file.
    static let notAFile: Int32 = -1
    /// The path does not exist.
    static let absence = ENOENT

    /// The path does not exist, or a folder on the way to it is missing.
    var isAbsence: Bool { code == ENOENT || code == ENOTDIR }
    var isExistence: Bool { code == EEXIST || code == ENOTEMPTY }
    /// No bytes or inodes are left, the file system is read-only, or the permission is missing.
    var isRefusal: Bool { [ENOSPC, EDQUOT, EROFS, EACCES, EPERM].contains(code) }
    var isHeldByAnother: Bool { code == EWOULDBLOCK }
    /// The path is a folder, a link, a pipe, a socket or a device.
    var isNotAFile: Bool { [Self.notAFile, EISDIR, ELOOP, ENXIO, ENODEV].contains(code) }
    /// Only this file cannot be read: it is not a regular file, its permissions forbid it, or the medium has lost it.
    var meansDamage: Bool { isNotAFile || [EACCES, EIO, EBADMSG].contains(code) }

    var reason: String {
        isNotAFile ? "it is not a regular file but a folder, a link, a pipe or a device" : String(cString: strerror(code))
    }

    var cacheError: CacheError { .fileSystem(operation: operation, path: path, reason: reason) }
}

extension Error {
    /// Whether it means that the disk is full or read-only, or that another program locks the file. Such an error may be temporary
    /// and stops no server.
    var meansUnwritable: Bool {
        switch self {
        case let failure as FileFailure: failure.isRefusal
        case let failure as DatabaseError:
            switch failure.resultCode {
            case .SQLITE_FULL, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_IOERR, .SQLITE_BUSY, .SQLITE_LOCKED: true
            default: false
            }
        default: false
        }
    }
}
