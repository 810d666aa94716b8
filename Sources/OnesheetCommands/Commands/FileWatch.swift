import OnesheetCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Notices when one of some files is another one than before.
struct FileWatch {
    private let files: [String]
    /// What was told last.
    private var known: [Stamp?]
    /// What was seen last.
    private var seen: [Stamp?]

    init(_ files: [String]) {
        self.files = files
        known = files.map(Stamp.init)
        seen = known
    }

    /// Looks every second, until the task is cancelled: a person who saves a file does not wait longer than that.
    consuming func run(_ tell: () -> Void) async {
        while await sleepUnlessCancelled(for: .seconds(1)) { if look() { tell() } }
    }

    /// Whether there is something new since the last time, and nobody is still writing it: it was the same at the last two looks.
    mutating func look() -> Bool {
        let now = files.map(Stamp.init)
        defer { seen = now }
        guard now != known, now == seen else { return false }
        known = now
        return true
    }

    /// What the system says about a file that links lead to; `nil` where there is none.
    private struct Stamp: Equatable {
        let file: UInt64
        let bytes: Int64
        let seconds: Int
        let nanoseconds: Int

        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            (file, bytes) = (UInt64(facts.st_ino), Int64(facts.st_size))
            #if canImport(Darwin)
                (seconds, nanoseconds) = (facts.st_mtimespec.tv_sec, facts.st_mtimespec.tv_nsec)
            #else
                (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
            #endif
        }
    }
}
