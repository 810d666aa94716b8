#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import OnesheetCore

/// The file system said no.
struct FileFailure: Error, Equatable {
    let operation: String
    let path: String
    let code: Int32

    init(_ operation: String, _ path: String, code: Int32 = errno) {
        (self.operation, self.path, self.code) = (operation, path, code)
    }

    /// No error of the system's: something is there, and it is no regular file.
    static let notAFile: Int32 = -1
    /// Nothing is there.
    static let absence = ENOENT

    /// Nothing is there, or a folder on the way is gone.
    var isAbsence: Bool { code == ENOENT || code == ENOTDIR }
    var isExistence: Bool { code == EEXIST || code == ENOTEMPTY }
    /// No bytes or inodes are left, the file system is read-only, or we lack the permission.
    var isRefusal: Bool { [ENOSPC, EDQUOT, EROFS, EACCES, EPERM].contains(code) }
    var isHeldByAnother: Bool { code == EWOULDBLOCK }
    /// A folder, a link, a pipe, a socket or a device has the file's name.
    var isNotAFile: Bool { [Self.notAFile, EISDIR, ELOOP, ENXIO, ENODEV].contains(code) }
    /// The file itself cannot be read, while others can: it is no file, or not ours to read, or the medium has lost it.
    var meansDamage: Bool { isNotAFile || [EACCES, EIO, EBADMSG].contains(code) }

    var reason: String {
        isNotAFile ? "it is not a regular file but a folder, a link, a pipe or a device" : String(cString: strerror(code))
    }

    var cacheError: CacheError { .fileSystem(operation: operation, path: path, reason: reason) }
}
