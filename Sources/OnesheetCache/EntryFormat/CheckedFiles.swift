internal import FoundationEssentials
internal import OnesheetCore
internal import Synchronization

/// Remembers the headers of files that were read and checked lately, so that unchanged files are not checked again.
///
/// The file status reveals a change: each write updates the change time. A file that changed just before its check is not
/// remembered, because the system clock could give a later change the same time.
final class CheckedFiles: Sendable {
    /// A file at the time of its check.
    struct Checked {
        let header: EntryHeader
        fileprivate let status: FileStatus
        fileprivate let time: Date
    }

    /// The time for which a check is trusted. A medium can fail without a write.
    private static let trust = 60.0
    /// The least age of a change so that a later change certainly has another time.
    private static let settling = 1.0
    /// The most remembered files; beyond it all are forgotten.
    private static let limit = 4096

    private let files = Mutex<[Digest128: Checked]>([:])

    /// The header of the file called `name`, if it was checked and its status is unchanged.
    func header(of name: Digest128, _ status: FileStatus, now: Date) -> EntryHeader? {
        files.withLock { files in
            guard let checked = files[name], checked.status == status, abs(now.timeIntervalSince(checked.time)) < Self.trust else {
                return nil
            }
            return checked.header
        }
    }

    /// Records that the file is intact.
    func note(_ name: Digest128, status: FileStatus, header: EntryHeader, now: Date) {
        guard now.timeIntervalSince1970 - Double(status.changed) / 1e9 > Self.settling else { return }
        // Released only after the lock.
        var forgotten: [Digest128: Checked] = [:]
        files.withLock { files in
            if files.count >= Self.limit { swap(&files, &forgotten) }
            files[name] = Checked(header: header, status: status, time: now)
        }
    }
}
