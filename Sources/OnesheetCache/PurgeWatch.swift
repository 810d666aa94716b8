internal import OnesheetCore
internal import Synchronization

/// A moment in a cache's life: two are the same when nothing was purged between them.
package struct PurgeMark: Hashable, Sendable {
    fileprivate var own = 0
    fileprivate var foreign: Int?

    package init(own: Int = 0) { self.own = own }
}

/// Knows when something was purged, by this process or by another one with the same folder.
///
/// When it was another one all of memory goes, not only what was purged: it comes back from the disk, and such a purge is rare.
package final class PurgeWatch: Sendable {
    private let memory: MemoryTier
    private let tiers: [any CacheTier]
    private let last = Mutex(PurgeMark())

    init(memory: MemoryTier, tiers: [any CacheTier]) { (self.memory, self.tiers) = (memory, tiers) }

    /// The moment that it is now; for it a single row of the index is read. A tier that cannot tell has not been purged.
    package func mark() async -> PurgeMark {
        let known = last.withLock { $0 }
        var foreign = 0
        for tier in tiers {
            do { foreign += try await tier.foreignPurges() } catch { return known }
        }
        // Before anybody is told: whoever knows of the purge finds nothing of before in memory.
        if let before = known.foreign, before != foreign { _ = await memory.remove(.all) }
        return last.withLock { last in
            last.foreign = foreign
            return last
        }
    }

    /// Notes a purge of one's own.
    func note() { last.withLock { $0.own += 1 } }
}
