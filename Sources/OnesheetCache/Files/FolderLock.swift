/// Holds a lock between processes during its lifetime.
struct FolderLock: ~Copyable {
    private let file: OpenFile

    /// Waits for the lock file at `path`. Sets aside an item with its name that is not a file.
    init(waitingFor path: String) throws(FileFailure) {
        while true {
            let file = try Self.file(path)
            try file.lock(waiting: true)
            // A lock on a file that was removed or replaced meanwhile excludes no other process.
            if try FileStatus(of: path)?.identity == file.status().identity {
                self.file = file
                return
            }
        }
    }

    private static func file(_ path: String) throws(FileFailure) -> OpenFile {
        do throws(FileFailure) {
            return try OpenFile(path, for: .locking)
        } catch {
            guard error.isNotAFile else { throw error }
            try Files.clear(path)
            return try OpenFile(path, for: .locking)
        }
    }
}
