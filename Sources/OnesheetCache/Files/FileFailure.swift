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
    /// No bytes or no inodes are left.
    var isLackOfSpace: Bool { code == ENOSPC || code == EDQUOT }
    var isHeldByAnother: Bool { code == EWOULDBLOCK }

    var cacheError: CacheError { .fileSystem(operation: operation, path: path, reason: String(cString: strerror(code))) }
}
