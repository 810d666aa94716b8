internal import GRDB

extension Error {
    /// Whether it says that the disk is full or cannot be written: what may pass by itself, and stops no server.
    var meansUnwritable: Bool {
        switch self {
        case let failure as FileFailure: failure.isRefusal
        case let failure as DatabaseError:
            switch failure.resultCode {
            case .SQLITE_FULL, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_IOERR: true
            default: false
            }
        default: false
        }
    }
}
