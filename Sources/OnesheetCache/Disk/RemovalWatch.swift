package import OnesheetCore
internal import Synchronization

/// Empties memory when another process has purged the folder: the files are gone, memory would go on serving what they held.
///
/// All of memory goes, not only what was purged: it comes back from the disk, and a purge by another process is rare.
package final class RemovalWatch: Sendable {
    private let memory: MemoryTier
    private let disk: DiskTier
    private let seen: Mutex<Int?> = Mutex(nil)

    package init(memory: MemoryTier, disk: DiskTier) {
        (self.memory, self.disk) = (memory, disk)
    }

    /// Looks once; a single row of the index is read for it.
    package func look() async throws(CacheError) {
        let purges = try await disk.foreignPurges()
        let isNew = seen.withLock { seen in
            defer { seen = purges }
            return seen.map { $0 != purges } ?? false
        }
        if isNew { _ = await memory.remove(.all) }
    }
}
