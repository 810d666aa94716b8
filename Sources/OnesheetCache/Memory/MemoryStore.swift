internal import FoundationEssentials
internal import OnesheetCore

/// The state of `MemoryTier`, used under its lock.
struct MemoryStore: ~Copyable {
    struct Item {
        var entry: CacheEntry
        /// A copy of the entry's expiry, so that a lookup touches only the entry's reference.
        let created: Date
        /// The number of its source for counting.
        let source: Int
        var end: Date?

        func isAlive(at now: Date) -> Bool { ExpirationPolicy.isAlive(created: created, end: end, now: now) }
    }

    /// The entries that one step of a sweep examines under the lock.
    private static let step = 256

    private var items: S3FIFO<Item>
    private var marks = PromotionMarks()
    private let life: ExpirationPolicy
    private let entryBytes: Int
    /// Counters since the start, without the present contents.
    private(set) var counts = SourceCounts()

    /// - Parameter entryBytes: the largest entry.
    init(bytes: Int, entries: Int, entryBytes: Int, life: ExpirationPolicy) {
        self.entryBytes = entryBytes
        items = S3FIFO(weight: bytes, count: entries)
        self.life = life
    }

    /// One step of adding the present contents to `figures`, a copy of `counts`. Returns the next position.
    func addHeld(from start: Int, to figures: inout SourceCounts) -> Int? {
        items.visit(from: start, limit: Self.step) { _, item, weight in
            // A source that appeared after the copy is counted next time.
            guard figures.contains(item.source) else { return }
            figures[item.source].entries += 1
            figures[item.source].bytes += weight
            figures[item.source].oldest = figures[item.source].oldest.map { min($0, item.created) } ?? item.created
        }
    }

    func mark(for key: CacheKey) -> PromotionMark { marks.mark(for: key) }
    mutating func refuseEarlierPromotions() { marks.passAll() }

    mutating func entry(for key: CacheKey, now: Date) -> CacheEntry? {
        guard let item = items.value(for: key) else {
            counts[key].misses += 1
            return nil
        }
        guard item.isAlive(at: now) else {
            items.remove(key)
            counts.evict(item.source, reason: "expired")
            counts[item.source].misses += 1
            return nil
        }
        counts[item.source].hits += 1
        guard life.isExtending, let extended = life.extended(item.end, cacheTime: item.entry.cacheTime, now: now) else {
            return item.entry
        }
        return items.update(key) { item in
            item.end = extended
            if let extended, let expires = item.entry.expires, expires >= extended { return item.entry }
            item.entry.outlive(extended)
            return item.entry
        }
    }

    func contains(_ key: CacheKey, now: Date) -> Bool {
        guard let item = items.peek(key) else { return false }
        return item.isAlive(at: now)
    }

    mutating func store(_ entry: CacheEntry, for key: CacheKey, now: Date) {
        marks.pass(key)
        let weight = entry.weight(under: key)
        let source = counts.number(of: key)
        guard weight <= entryBytes else {
            items.remove(key)
            counts.evict(source, reason: "too large")
            return
        }
        let item = Item(entry: entry, created: entry.created, source: source, end: life.end(of: entry, now: now))
        var evicted: [Int] = []
        items.insert(item, for: key, weight: weight, cost: entry.cost) { evicted.append($0.source) }
        counts[source].stores += 1
        for source in evicted { counts.evict(source, reason: "room") }
    }

    mutating func remove(_ key: CacheKey) {
        marks.pass(key)
        items.remove(key)
    }

    /// Removes all entries. The caller releases them after it has released the lock.
    mutating func removeAll() -> S3FIFO<Item> {
        marks.passAll()
        return items.removeAll()
    }

    /// One step of removing by selection. Returns the next position.
    mutating func remove(
        _ selection: CacheSelection, dryRun: Bool, from start: Int, now: Date, counting removal: inout CacheRemoval
    ) -> Int? {
        var found: [CacheKey] = []
        var bytes = 0
        let next = items.visit(from: start, limit: Self.step) { key, item, weight in
            guard selection.matches(item.entry, end: item.end, now: now) else { return }
            found.append(key)
            bytes += weight
        }
        if !dryRun { found.forEach { items.remove($0) } }
        removal = removal + CacheRemoval(entries: found.count, bytes: bytes)
        return next
    }

    mutating func sweep(from start: Int, now: Date) -> Int? {
        var found: [(key: CacheKey, source: Int)] = []
        let next = items.visit(from: start, limit: Self.step) { key, item, _ in
            if !item.isAlive(at: now) { found.append((key, item.source)) }
        }
        for (key, source) in found {
            items.remove(key)
            counts.evict(source, reason: "expired")
        }
        return next
    }

    func keys(from start: Int, into keys: inout [CacheKey]) -> Int? {
        items.visit(from: start, limit: Self.step) { key, _, _ in keys.append(key) }
    }
}

/// The number of stores and removals when a promotion began.
struct PromotionMark: Equatable, Sendable {
    fileprivate let all: Int
    fileprivate let key: UInt32
}

/// Counts stores and removals in a fixed number of groups of keys. A promotion that began before one of them is refused. Two keys
/// in one group sometimes cost a promotion but never give a wrong answer.
struct PromotionMarks {
    private var all = 0
    private var groups = [UInt32](repeating: 0, count: 1024)

    func mark(for key: CacheKey) -> PromotionMark { PromotionMark(all: all, key: groups[key.group]) }
    mutating func pass(_ key: CacheKey) { groups[key.group] &+= 1 }
    mutating func passAll() { all += 1 }
}

extension CacheKey {
    /// One of 1024 groups of keys.
    fileprivate var group: Int { Int(hash >> 32) & 1023 }
}
