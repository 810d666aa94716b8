import OnesheetCache
import OnesheetCore

/// Detects changes of files by polling.
struct FileWatch {
    private let files: @Sendable () -> [String: FileStamp?]
    /// The state before the files were last read, by path.
    private var read: [String: FileStamp?]
    /// The state at the last reported change, or at a later reading.
    private var reported: [String: FileStamp?]
    /// The state at the last poll.
    private var seen: [String: FileStamp?]

    /// - Parameter files: the files to watch at the moment, which may change with what is in them. The state of each is the one before it
    ///   was read: it may have been replaced between that and the first poll.
    init(_ files: @escaping @Sendable () -> [String: FileStamp?]) {
        self.files = files
        read = files()
        reported = read
        seen = FileStamp.now(read.keys)
    }

    /// Polls every second until the task is cancelled.
    consuming func run(_ onChange: () -> Void) async {
        while await sleepUnlessCancelled(for: .seconds(1)) { if poll() { onChange() } }
    }

    /// Whether the files have changed since the last report and were stable over the last two polls, so nothing is still writing
    /// them.
    mutating func poll() -> Bool {
        let files = files()
        let now = FileStamp.now(files.keys)
        defer { (seen, read) = (now, files) }
        // What was read since the last poll counts: of a file that is watched from now on, or because of a signal. Files that are no longer
        // watched do not matter.
        for (path, stamp) in files where read[path] != .some(stamp) { reported[path] = .some(stamp) }
        reported = reported.filter { now.index(forKey: $0.key) != nil }
        guard now != reported, now == seen else { return false }
        reported = now
        return true
    }
}
