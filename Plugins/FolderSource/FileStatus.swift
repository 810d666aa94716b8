#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif
internal import FoundationEssentials

/// The status of a path, without following links.
struct FileStatus {
    enum Kind {
        case directory, file, other
    }

    let kind: Kind
    let bytes: Int
    /// The inode number: another file under the same name has another.
    let number: UInt64
    let modified: Date
    /// The time of the last status change in nanoseconds. Unlike the modification time, it cannot be set.
    let changed: Int64

    /// `nil` if the path does not exist.
    init?(of path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFDIR: .directory
            case S_IFREG: .file
            default: .other
            }
        bytes = Int(status.st_size)
        number = UInt64(status.st_ino)
        #if canImport(Darwin)
            let (modification, change) = (status.st_mtimespec, status.st_ctimespec)
        #else
            let (modification, change) = (status.st_mtim, status.st_ctim)
        #endif
        modified = Date(timeIntervalSince1970: Double(modification.tv_sec) + Double(modification.tv_nsec) / 1e9)
        changed = Int64(change.tv_sec) &* 1_000_000_000 &+ Int64(change.tv_nsec)
    }

    func isUnsettled(at now: Date) -> Bool { Self.isUnsettled(changed, at: now) }

    /// Whether the change is so recent that a further change might not alter the coarse timestamps.
    static func isUnsettled(_ changed: Int64, at now: Date) -> Bool {
        abs(Double(changed) / 1e9 - now.timeIntervalSince1970) < 2
    }
}
