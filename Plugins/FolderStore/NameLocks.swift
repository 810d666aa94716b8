#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif
internal import OnesheetCore

/// Locks between all writers of a folder: 64 lock files, one of which belongs to each name (flock(2)).
///
/// Linux makes such a lock on NFS one of the server (nfs(5), `local_lock`). A file system without locks is used without them; then
/// conditions are only probably right, and the probe says so.
struct NameLocks: Sendable {
    let folder: String

    private static let count: UInt32 = 64

    /// A held lock. The descriptor is `nil` if the file system has no locks.
    struct Held {
        fileprivate let descriptor: Int32?
        /// Releases the lock, which belongs to the open file.
        func unlock() { if let descriptor { close(descriptor) } }
    }

    /// Waits until `deadline`; `nil` if another writer holds the lock for that long. Never blocks: a writer may be stopped while it
    /// holds the lock.
    func lock(_ path: ObjectPath, by deadline: ContinuousClock.Instant) throws(FileError) -> Held? {
        let file = "\(folder)/\(Self.number(of: path))"
        let descriptor = try Self.open(file)
        var pause: UInt32 = 200
        while true {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return Held(descriptor: descriptor) }
            let error = FileError(file)
            if error.code == EINTR { continue }
            guard error.code == EWOULDBLOCK, ContinuousClock.now < deadline else {
                close(descriptor)
                if error.code == EWOULDBLOCK { return nil }
                if error.meansNoLocks { return Held(descriptor: nil) }
                throw error
            }
            // The system has no wait for a lock with a deadline, so this thread, which is one for files, looks again after a pause.
            usleep(pause)
            pause = min(pause * 2, 10_000)
        }
    }

    /// Whether a second holder is kept out, as this machine sees it.
    func excludeOthers() throws(FileError) -> Bool {
        let file = "\(folder)/probe-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        let (first, second) = (try Self.open(file), try Self.open(file))
        defer {
            close(first)
            close(second)
            unlink(file)
        }
        return flock(first, LOCK_EX | LOCK_NB) == 0 && flock(second, LOCK_EX | LOCK_NB) != 0
    }

    private static func open(_ path: String) throws(FileError) -> Int32 {
        #if canImport(Darwin)
            let descriptor = Darwin.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o660)
        #else
            let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o660)
        #endif
        guard descriptor >= 0 else { throw FileError(path) }
        return descriptor
    }

    /// The same on every machine (FNV-1a, 32 bits).
    private static func number(of path: ObjectPath) -> UInt32 {
        path.name.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 } % count
    }
}
