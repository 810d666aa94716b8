internal import FoundationEssentials
package import OnesheetCore
internal import Synchronization

/// The first tier: entries ready to send, bounded by bytes and by count, with a look-up that an event loop may call.
package final class MemoryTier: CacheTier {
    package let name = "memory"
    private let shelf: Mutex<MemoryShelf>
    private let clock: WallClock

    /// - Parameters:
    ///   - bytes: how much memory all entries may take together. An entry over a tenth of it is not taken.
    ///   - entries: how many there may be.
    ///   - expires: the longest that an entry stays here unread; its own time can be shorter.
    ///   - extending: what reading an entry does to its time here.
    package init(
        bytes: Int = 256 << 20, entries: Int = 100_000, expires: CacheExpiration = .seconds(300),
        extending: ExpirationExtending = .none, clock: WallClock = .system
    ) {
        shelf = Mutex(MemoryShelf(bytes: bytes, entries: entries, life: ShelfLife(limit: expires, extending: extending)))
        self.clock = clock
    }

    /// The fresh entry under `key`, at once.
    package func entryNow(for key: CacheKey) -> CacheEntry? {
        let (key, now) = (HashedKey(key), clock.now)
        return shelf.withLock { $0.entry(for: key, now: now) }?.entry
    }

    package func entry(for key: CacheKey) async -> CacheEntry? { entryNow(for: key) }

    package func contains(_ key: CacheKey) async -> Bool {
        let (key, now) = (HashedKey(key), clock.now)
        return shelf.withLock { $0.contains(key, now: now) }
    }

    package func store(_ entry: CacheEntry, for key: CacheKey) async { storeNow(entry, for: key) }

    /// Stores `entry`, at once.
    package func storeNow(_ entry: CacheEntry, for key: CacheKey) {
        let stored = StoredEntry(entry.compacted())
        let (key, now) = (HashedKey(key), clock.now)
        shelf.withLock { $0.store(stored, for: key, now: now) }
    }

    package func remove(_ key: CacheKey) async { removeNow(key) }

    /// Removes what is under `key`, at once.
    package func removeNow(_ key: CacheKey) {
        let key = HashedKey(key)
        shelf.withLock { $0.remove(key) }
    }

    package func remove(_ selection: CacheSelection, dryRun: Bool = false) async -> CacheRemoval {
        let now = clock.now
        if selection == .all, !dryRun { return shelf.withLock { $0.removeAll() } }
        if !dryRun { shelf.withLock { $0.refuseEarlierPromotions() } }
        var removal = CacheRemoval()
        var position: Int? = 0
        while let start = position {
            position = shelf.withLock { $0.remove(selection, dryRun: dryRun, from: start, now: now, counting: &removal) }
        }
        return removal
    }

    package func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async {
        var position: Int? = 0
        while let start = position {
            var keys: [CacheKey] = []
            position = shelf.withLock { $0.keys(from: start, into: &keys) }
            keys.forEach(visit)
        }
    }

    package func statistics() async -> CacheStatistics { shelf.withLock { $0.statistics } }

    /// Removes what has expired. It works in short steps, so that no look-up waits for all of it.
    package func sweep() {
        let now = clock.now
        var position: Int? = 0
        while let start = position {
            position = shelf.withLock { $0.sweep(from: start, now: now) }
        }
    }

    /// A mark to take before reading an entry elsewhere that is to be promoted here.
    func promotionMark(for key: CacheKey) -> PromotionMark { shelf.withLock { $0.mark(for: HashedKey(key)) } }

    /// Stores an entry that was read elsewhere, unless the key was stored or removed here since `mark`:
    /// what was read may be what has been removed meanwhile.
    func promote(_ entry: CacheEntry, for key: CacheKey, since mark: PromotionMark) {
        let stored = StoredEntry(entry.compacted())
        let (key, now) = (HashedKey(key), clock.now)
        shelf.withLock { if $0.mark(for: key) == mark { $0.store(stored, for: key, now: now) } }
    }
}
