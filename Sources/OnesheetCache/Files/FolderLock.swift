/// Holds a lock between processes for as long as it lives.
struct FolderLock: ~Copyable {
    private let file: OpenFile

    /// Waits for the lock file at `path`.
    init(waitingFor path: String) throws(FileFailure) {
        while true {
            let file = try OpenFile(path, for: .locking)
            try file.lock(waiting: true)
            // A file that was removed or replaced while we waited locks nobody out.
            if try FileStatus(of: path)?.identity == file.status().identity {
                self.file = file
                return
            }
        }
    }
}
