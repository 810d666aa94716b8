internal import Synchronization

/// One process that has the folder open, and its folder for files during writing.
///
/// A lock on a file in it shows that the process is alive. The system releases the lock when the process ends, so the files of a
/// killed process are recognised, and those of a live one are left alone.
final class FolderSession: Sendable {
    let path: String
    private let life: OpenFile
    private let count = Atomic(0)

    /// - Precondition: the caller holds the folder's lock.
    init(in layout: FolderLayout) throws(FileFailure) {
        path = "\(layout.temporary)/\(Digest128(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)).hex)"
        try Files.makeFolder(path)
        let life = try OpenFile("\(path)/alive", for: .locking)
        try life.lock(waiting: false)
        self.life = life
    }

    /// A name for a new file.
    func temporaryPath() -> String { "\(path)/\(count.wrappingAdd(1, ordering: .relaxed).newValue)" }

    /// Removes the files of dead sessions.
    /// - Precondition: the caller holds the folder's lock.
    /// - Returns: the number of live sessions besides `own`.
    @discardableResult
    static func removeDead(in layout: FolderLayout, but own: FolderSession?) throws(FileFailure) -> Int {
        var living = 0
        for folder in layout.sessions {
            for name in try Files.names(in: folder) where Digest128(hex: name) != nil {
                let path = "\(folder)/\(name)"
                guard path != own?.path else { continue }
                if try isAlive(path) { living += 1 } else { remove(path) }
            }
        }
        return living
    }

    /// Removes the files of a dead session. If that fails, they only take a little room.
    private static func remove(_ path: String) {
        do { try Files.removeTree(path) } catch { return }
    }

    private static func isAlive(_ path: String) throws(FileFailure) -> Bool {
        do {
            let life = try OpenFile("\(path)/alive", for: .changing)
            try life.lock(waiting: false)
            return false
        } catch {
            // Another user's session: only that user can examine it.
            if error.isHeldByAnother || error.isRefusal { return true }
            if error.isAbsence || error.meansDamage { return false }
            throw error
        }
    }
}
