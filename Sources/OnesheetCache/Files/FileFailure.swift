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

    /// Nothing is there, or a folder on the way is gone.
    var isAbsence: Bool { code == ENOENT || code == ENOTDIR }
    var isExistence: Bool { code == EEXIST || code == ENOTEMPTY }
    /// No bytes or no inodes are left, or nobody may write here, or we may not.
    var isRefusal: Bool { [ENOSPC, EDQUOT, EROFS, EACCES, EPERM].contains(code) }
    var isHeldByAnother: Bool { code == EWOULDBLOCK }

    var cacheError: CacheError { .fileSystem(operation: operation, path: path, reason: String(cString: strerror(code))) }
}
