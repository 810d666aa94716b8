internal import FoundationEssentials
internal import OnesheetCore

/// The state of `MemoryTier`, used under its lock.
struct MemoryShelf: ~Copyable {
    private struct Item {
        var entry: CacheEntry
        var end: Date?
    }

    /// How many entries one step of a sweep looks at under the lock.
    private static let step = 256

    private var items: S3FIFO<CacheKey, Item>
    private var marks = PromotionMarks()
    private let life: ShelfLife
    private let entryBytes: Int
    private var counts = CacheStatistics()

    /// - Parameter entryBytes: how much one entry may take.
    init(bytes: Int, entries: Int, entryBytes: Int, life: ShelfLife) {
        self.entryBytes = entryBytes
        items = S3FIFO(weight: bytes, count: entries)
        self.life = life
        counts.byteLimit = bytes
    }

    var statistics: CacheStatistics {
        var result = counts
        (result.entries, result.bytes) = (items.count, items.weight)
        return result
    }

    func mark(for key: Hashed<CacheKey>) -> PromotionMark { marks.mark(for: key) }
    mutating func refuseEarlierPromotions() { marks.passAll() }

    mutating func entry(for key: Hashed<CacheKey>, now: Date) -> CacheEntry? {
        guard let item = items.value(for: key) else {
            counts.misses += 1
            return nil
        }
        guard ShelfLife.isFresh(created: item.entry.created, end: item.end, now: now) else {
            evict(key, reason: "expired")
            counts.misses += 1
            return nil
        }
        counts.hits += 1
        guard let extended = life.extended(item.end, cacheTime: item.entry.cacheTime, now: now) else { return item.entry }
        return items.update(key) { item in
            item.end = extended
            if let extended, let expires = item.entry.expires, expires >= extended { return item.entry }
            item.entry.outlive(extended)
            return item.entry
        }
    }

    func contains(_ key: Hashed<CacheKey>, now: Date) -> Bool {
        guard let item = items.peek(key) else { return false }
        return ShelfLife.isFresh(created: item.entry.created, end: item.end, now: now)
    }

    mutating func store(_ entry: CacheEntry, for key: Hashed<CacheKey>, now: Date) {
        marks.pass(key)
        let weight = entry.weight(under: key.key)
        guard weight <= entryBytes else {
            items.remove(key)
            counts.evictions["too large", default: 0] += 1
            return
        }
        let evicted = items.insert(
            Item(entry: entry, end: life.end(of: entry, now: now)), for: key, weight: weight, cost: entry.cost)
        counts.stores += 1
        if evicted > 0 { counts.evictions["room", default: 0] += evicted }
    }

    mutating func remove(_ key: Hashed<CacheKey>) {
        marks.pass(key)
        items.remove(key)
    }

    mutating func removeAll() -> CacheRemoval {
        marks.passAll()
        defer { items.removeAll() }
        return CacheRemoval(entries: items.count, bytes: items.weight)
    }

    /// One step of removing by selection; answers where to go on.
    mutating func remove(
        _ selection: CacheSelection, dryRun: Bool, from start: Int, now: Date, counting removal: inout CacheRemoval
    ) -> Int? {
        var found: [Hashed<CacheKey>] = []
        var bytes = 0
        let next = items.visit(from: start, limit: Self.step) { key, item, weight in
            guard selection.takes(item.entry, end: item.end, now: now) else { return }
            found.append(key)
            bytes += weight
        }
        if !dryRun { found.forEach { items.remove($0) } }
        removal = removal + CacheRemoval(entries: found.count, bytes: bytes)
        return next
    }

    mutating func sweep(from start: Int, now: Date) -> Int? {
        var found: [Hashed<CacheKey>] = []
        let next = items.visit(from: start, limit: Self.step) { key, item, _ in
            if CacheSelection.expired.takes(item.entry, end: item.end, now: now) { found.append(key) }
        }
        for key in found { evict(key, reason: "expired") }
        return next
    }

    func keys(from start: Int, into keys: inout [CacheKey]) -> Int? {
        items.visit(from: start, limit: Self.step) { key, _, _ in keys.append(key.key) }
    }

    private mutating func evict(_ key: Hashed<CacheKey>, reason: String) {
        items.remove(key)
        counts.evictions[reason, default: 0] += 1
    }
}

extension CacheSelection {
    /// Whether the selection takes `entry`, which ends at `end`.
    func takes(_ entry: CacheEntry, end: Date?, now: Date) -> Bool {
        switch self {
        case .all: true
        case .expired: !ShelfLife.isFresh(created: entry.created, end: end, now: now)
        case .tag(let tag): entry.tags.contains(tag)
        }
    }
}
