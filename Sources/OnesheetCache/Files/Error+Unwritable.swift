internal import GRDB

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
