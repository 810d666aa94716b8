#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif
internal import OnesheetCore

/// A failed call of the file system.
struct FileError: Error {
    let path: String
    let code: Int32
    /// The error for the caller, if the system's code does not say it.
    let meaning: StoreError?

    init(_ path: String, code: Int32 = errno, meaning: StoreError? = nil) {
        self.path = path
        self.code = code
        self.meaning = meaning
    }

    /// The path, or a folder on the way to it, does not exist.
    var isAbsence: Bool { code == ENOENT || code == ENOTDIR }
    /// The path is too long, or another name has it as its folder or is a folder of it.
    var meansInvalidName: Bool { meaning == nil && [EEXIST, ENOTDIR, EISDIR, ENOTEMPTY, ENAMETOOLONG].contains(code) }
    /// The file system has no locks.
    var meansNoLocks: Bool { [ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL].contains(code) }

    func storeError(_ operation: String) -> StoreError {
        if let meaning { return meaning }
        let reason = "\(path): \(String(cString: strerror(code)))"
        return switch code {
        case EACCES, EPERM, EROFS:
            .refused(operation: operation, reason: "\(reason); the server's user has to be allowed to read and write there")
        case ESTALE, EIO, ENXIO, ENODEV, ENOTCONN, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH:
            .unreachable(operation: operation, reason: reason)
        default: .failed(operation: operation, reason: reason)
        }
    }
}
