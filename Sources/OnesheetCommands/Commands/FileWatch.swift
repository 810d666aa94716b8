import OnesheetCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Detects changes of files by polling.
struct FileWatch {
    private let files: @Sendable () -> [String]
    /// The state at the last reported change, by path.
    private var reported: [String: Stamp?]
    /// The state at the last poll.
    private var seen: [String: Stamp?]

    init(_ files: [String]) { self.init { files } }

    /// - Parameter files: the files to watch at the moment, which may change with what is in them.
    init(_ files: @escaping @Sendable () -> [String]) {
        self.files = files
        reported = Self.stamps(of: files())
        seen = reported
    }

    private static func stamps(of files: [String]) -> [String: Stamp?] {
        Dictionary(files.map { ($0, Stamp($0)) }) { first, _ in first }
    }

    /// Polls every second until the task is cancelled.
    consuming func run(_ onChange: () -> Void) async {
        while await sleepUnlessCancelled(for: .seconds(1)) { if poll() { onChange() } }
    }

    /// Whether the files have changed since the last report and were stable over the last two polls, so nothing is still writing
    /// them.
    mutating func poll() -> Bool {
        let now = Self.stamps(of: files())
        defer { seen = now }
        // A file that is watched from now on has just been read. Files that are no longer watched do not matter.
        for (path, stamp) in now where reported.index(forKey: path) == nil { reported[path] = .some(stamp) }
        reported = reported.filter { now.index(forKey: $0.key) != nil }
        guard now != reported, now == seen else { return false }
        reported = now
        return true
    }

    /// The identity, size and modification time of a file, with links followed. `nil` if the file does not exist.
    private struct Stamp: Equatable {
        let file: UInt64
        let bytes: Int64
        let seconds: Int
        let nanoseconds: Int

        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            file = UInt64(facts.st_ino)
            bytes = Int64(facts.st_size)
            #if canImport(Darwin)
                seconds = facts.st_mtimespec.tv_sec
                nanoseconds = facts.st_mtimespec.tv_nsec
            #else
                seconds = facts.st_mtim.tv_sec
                nanoseconds = facts.st_mtim.tv_nsec
            #endif
        }
    }
}
