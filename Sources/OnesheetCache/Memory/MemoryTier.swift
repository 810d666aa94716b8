internal import FoundationEssentials
package import OnesheetCore
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The first tier: entries ready to send, with limits of bytes and count. Event loops may call its lookup.
///
/// A large tier is divided into parts by the hashes of keys. Each part has a lock, so that threads seldom wait for one another.
package final class MemoryTier: CacheTier {
    package static let name = "memory"
    package var name: String { Self.name }
    /// Stored inline, not behind references: threads that change one reference count contend for it too.
    private let parts: InlineArray<8, Part>
    /// The used parts. A small tier has only one, because each part would have room for few entries and fill up before the whole
    /// tier is full.
    private let used: Range<Int>
    private let bytes: Int
    /// The largest entry.
    var entryLimit: Int { bytes / 10 }
    private let clock: WallClock
    private let purges = Atomic(0)

    private struct Part: ~Copyable, Sendable {
        private let store: Mutex<MemoryStore>
        init(_ store: consuming sending MemoryStore) { self.store = Mutex(store) }

        /// Runs `body` under the lock, which is held for a fraction of a microsecond. A thread that finds it taken yields and
        /// retries: the system's fair lock would hand it from one sleeping thread to the next.
        func withLock<Answer>(_ body: (inout sending MemoryStore) -> sending Answer) -> sending Answer {
            for _ in 0..<32 {
                if let answer = store.withLockIfAvailable(body) { return answer }
                sched_yield()
            }
            return store.withLock(body)
        }
    }

    /// - Parameters:
    ///   - bytes: the memory for all entries together. An entry of more than a tenth of it is not stored.
    ///   - entries: the most entries.
    ///   - expires: the longest lifetime of an unread entry in this tier; its own can be shorter.
    ///   - extending: the effect of a read on the expiration in this tier.
    package init(
        bytes: Int = 256 << 20, entries: Int = 100_000, expires: CacheExpiration = .seconds(300),
        extending: ExpirationExtending = .none, clock: WallClock = .system
    ) {
        let count = bytes >= 64 << 20 && entries >= 4096 ? 8 : 1
        let life = ExpirationPolicy(limit: expires, extending: extending)
        parts = InlineArray { _ in
            Part(MemoryStore(bytes: bytes / count, entries: entries / count, entryBytes: bytes / 10, life: life))
        }
        used = 0..<count
        self.bytes = bytes
        self.clock = clock
    }

    /// The entry under `key`, unless it has expired. Never waits.
    package func entryNow(for key: CacheKey) -> CacheEntry? {
        let now = clock.now
        return parts[part(of: key)].withLock { $0.entry(for: key, now: now) }
    }

    /// The entry under `key` if another caller has stored it since a lookup that missed, and it has not expired. Counts no second
    /// miss.
    package func entryStoredSince(for key: CacheKey) -> CacheEntry? {
        let now = clock.now
        return parts[part(of: key)].withLock { $0.contains(key, now: now) ? $0.entry(for: key, now: now) : nil }
    }

    package func entry(for key: CacheKey) async -> CacheEntry? { entryNow(for: key) }

    package func contains(_ key: CacheKey) async -> Bool {
        let now = clock.now
        return parts[part(of: key)].withLock { $0.contains(key, now: now) }
    }

    package func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async -> Bool {
        storeNow(entry, for: key, ifGeneration: generation)
    }

    /// Stores `entry`, unless the tier has another generation. Never waits.
    ///
    /// A purge raises the generation before it takes the lock of a part. Under that lock, the entry is therefore either refused or
    /// visible to the purge.
    @discardableResult
    package func storeNow(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int? = nil) -> Bool {
        let entry = entry.compacted()
        let now = clock.now
        return parts[part(of: key)].withLock { store in
            if let generation, purges.load(ordering: .acquiring) != generation { return false }
            store.store(entry, for: key, now: now)
            return true
        }
    }

    /// A number that each purge raises.
    package var generation: Int { purges.load(ordering: .acquiring) }

    package func generation() async -> Int { generation }

    package func raiseGeneration() async -> Int { purges.add(1, ordering: .acquiringAndReleasing).newValue }

    package func remove(_ key: CacheKey) async { parts[part(of: key)].withLock { $0.remove(key) } }

    package func remove(_ selection: CacheSelection, dryRun: Bool = false) async -> CacheRemoval {
        let now = clock.now
        var removal = CacheRemoval()
        for part in used {
            if selection == .all, !dryRun {
                let all = parts[part].withLock { $0.removeAll() }
                removal = removal + CacheRemoval(entries: all.count, bytes: all.weight)
                continue
            }
            if !dryRun { parts[part].withLock { $0.refuseEarlierPromotions() } }
            inSteps(part) { $0.remove(selection, dryRun: dryRun, from: $1, now: now, counting: &removal) }
        }
        return removal
    }

    package func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async {
        for part in used {
            var keys: [CacheKey] = []
            inSteps(part) { $0.keys(from: $1, into: &keys) }
            keys.forEach(visit)
        }
    }

    package func statistics() async -> CacheStatistics {
        var sources: [String: CacheFigures] = [:]
        for part in used {
            var figures = parts[part].withLock { $0.counts }
            inSteps(part) { $0.addHeld(from: $1, to: &figures) }
            sources.merge(figures.named, uniquingKeysWith: +)
        }
        return CacheStatistics(byteLimit: bytes, sources: sources)
    }

    /// Removes expired entries.
    package func sweep() {
        let now = clock.now
        for part in used { inSteps(part) { $0.sweep(from: $1, now: now) } }
    }

    /// A mark for promotion. Take it before reading the entry from another tier.
    func promotionMark(for key: CacheKey) -> PromotionMark {
        parts[part(of: key)].withLock { $0.mark(for: key) }
    }

    /// Stores an entry of another tier, unless the key was stored or removed here since `mark`: the entry may have been removed
    /// there meanwhile.
    func promote(_ entry: CacheEntry, for key: CacheKey, since mark: PromotionMark) {
        let entry = entry.compacted()
        let now = clock.now
        parts[part(of: key)].withLock { if $0.mark(for: key) == mark { $0.store(entry, for: key, now: now) } }
    }

    private func part(of key: CacheKey) -> Int { Int(key.hash >> 56) & (used.count - 1) }

    /// Walks a part in short steps and releases its lock between them, so that no lookup waits for all of it.
    private func inSteps(_ part: Int, _ step: (inout MemoryStore, Int) -> Int?) {
        var position: Int? = 0
        while let start = position {
            position = parts[part].withLock { step(&$0, start) }
        }
    }
}
