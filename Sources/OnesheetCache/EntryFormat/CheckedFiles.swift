internal import FoundationEssentials
internal import OnesheetCore
internal import Synchronization

/// What was found in files that were read and checked lately, so that a file that has not changed since is not checked again.
///
/// A change is seen by the file's status: nothing writes to a file without giving it a new time of change. A file that changed only
/// just before it was checked is not remembered, because the system's clock could give a later change the same time.
final class CheckedFiles: Sendable {
    /// A file as it was when it was checked.
    struct Checked {
        let header: EntryHeader
        fileprivate let status: FileStatus
        fileprivate let time: Date
    }

    /// How long a check is trusted: a medium can fail without anything being written.
    private static let trust = 60.0
    /// How old a change has to be so that a further one is sure to get another time.
    private static let settling = 1.0
    /// How many are remembered; beyond it all are forgotten.
    private static let limit = 4096

    private let files = Mutex<[Digest128: Checked]>([:])

    /// The header of the file called `name`, if it was checked and its status is still the same.
    func header(of name: Digest128, _ status: FileStatus, now: Date) -> EntryHeader? {
        files.withLock { files in
            guard let checked = files[name], checked.status == status, abs(now.timeIntervalSince(checked.time)) < Self.trust else {
                return nil
            }
            return checked.header
        }
    }

    /// Notes that the file was found whole.
    func note(_ name: Digest128, status: FileStatus, header: EntryHeader, now: Date) {
        guard now.timeIntervalSince1970 - Double(status.changed) / 1e9 > Self.settling else { return }
        // Ended only when the lock is free again.
        var forgotten: [Digest128: Checked] = [:]
        files.withLock { files in
            if files.count >= Self.limit { swap(&files, &forgotten) }
            files[name] = Checked(header: header, status: status, time: now)
        }
    }
}
