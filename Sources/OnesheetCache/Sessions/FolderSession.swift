internal import Synchronization

/// One process that has the folder open, and the folder for the files that it is writing.
///
/// A lock on a file in it says that the process lives. The system lets go of the lock however the process ends, so that
/// what a killed process left is known for what it is, and what a living one is writing is left alone.
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

    /// A name for a file that is to be written.
    func temporaryPath() -> String { "\(path)/\(count.wrappingAdd(1, ordering: .relaxed).newValue)" }

    /// Removes what dead sessions left.
    /// - Precondition: the caller holds the folder's lock.
    /// - Returns: how many living sessions there are besides `own`.
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

    /// Removes what a dead session left. If that fails, the files only take a little room.
    private static func remove(_ path: String) {
        do { try Files.removeTree(path) } catch { return }
    }

    private static func isAlive(_ path: String) throws(FileFailure) -> Bool {
        do {
            let life = try OpenFile("\(path)/alive", for: .changing)
            try life.lock(waiting: false)
            return false
        } catch {
            // Another user's session: only that user can tell.
            if error.isHeldByAnother || error.isRefusal { return true }
            if error.isAbsence || error.meansDamage { return false }
            throw error
        }
    }
}
