internal import Foundation
package import OnesheetCore

/// The eviction policy S3-FIFO (Yang et al., SOSP 2023), weighed by bytes and by cost.
///
/// New entries pass through a small queue. Only entries that are requested again there reach the main queue, so a scan, such as a
/// prefetch or a crawler, does not affect it. The hashes of entries that left the small queue unused are remembered, and such
/// entries go straight to the main queue when they return. Every operation is O(1), amortised.
package struct S3FIFO<Value> {
    package let weightLimit: Int
    package let countLimit: Int
    package private(set) var weight = 0
    package var count: Int { positions.count }

    private var slots = SlotList<Value>()
    private var positions = PositionTable()
    private var small = SlotQueue()
    private var main = SlotQueue()
    private var ghosts = GhostList()
    private var worth = WorthScale()

    /// - Parameters:
    ///   - weight: the greatest total weight.
    ///   - count: the most entries.
    package init(weight: Int, count: Int) {
        weightLimit = weight
        countLimit = count
    }

    /// The value under `key`, marked as used.
    package mutating func value(for key: CacheKey) -> Value? {
        guard let position = position(of: key) else { return nil }
        slots.use(position)
        return slots[position].value
    }

    /// The value under `key`, not marked as used.
    package func peek(_ key: CacheKey) -> Value? {
        position(of: key).flatMap { slots[$0].value }
    }

    /// Changes the value under `key` in place.
    package mutating func update<Result>(_ key: CacheKey, _ body: (inout Value) -> Result) -> Result? {
        guard let position = position(of: key) else { return nil }
        return slots.change(position, body)
    }

    /// Stores `value` under `key`.
    /// - Parameters:
    ///   - cost: the cost of making the value again, in any unit.
    ///   - evicting: called with each evicted value.
    package mutating func insert(
        _ value: Value, for key: CacheKey, weight entry: Int, cost: Double = 0, evicting: (Value) -> Void = { _ in }
    ) {
        remove(key)
        let credit = worth.credit(cost: cost, weight: entry)
        let isReturning = ghosts.remove(key.hash)
        while weight + entry > weightLimit || count + 1 > countLimit, let evicted = evictOne() { evicting(evicted) }
        let position = slots.add(Slot(key: key, value: value, weight: entry, credit: credit, isInMain: isReturning))
        positions.add(position, under: key.hash)
        weight += entry
        if isReturning { main.push(position, in: &slots) } else { small.push(position, in: &slots) }
    }

    @discardableResult
    package mutating func remove(_ key: CacheKey) -> Value? {
        guard let position = position(of: key) else { return nil }
        return remove(at: position)
    }

    /// Removes all entries at once.
    package mutating func removeAll() -> Self {
        let all = self
        self = Self(weight: weightLimit, count: countLimit)
        return all
    }

    /// Visits the entries in at most `limit` slots from `start`. Returns the next slot; `nil` at the end.
    package func visit(from start: Int, limit: Int, _ body: (CacheKey, Value, Int) -> Void) -> Int? {
        let end = min(start + limit, slots.capacity)
        for position in start..<max(start, end) {
            if let value = slots[position].value { body(slots[position].key, value, slots[position].weight) }
        }
        return end < slots.capacity ? end : nil
    }

    /// Inlined, because otherwise the closure would copy the whole structure.
    @inline(__always)
    private func position(of key: CacheKey) -> Int? {
        positions.position(of: key.hash) { slots[$0].key == key }
    }

    @discardableResult
    private mutating func remove(at position: Int) -> Value? {
        positions.remove(position, under: slots[position].key.hash)
        weight -= slots[position].weight
        if slots[position].isInMain { main.unlink(position, in: &slots) } else { small.unlink(position, in: &slots) }
        return slots.free(position)
    }

    /// Evicts one entry and returns its value. Each turn removes an entry, moves one on, or uses up one of its credits, so the loop
    /// ends.
    private mutating func evictOne() -> Value? {
        while true {
            // A tenth of whichever limit is reached.
            let isLarge = small.weight * 10 > weightLimit || small.count * 10 > countLimit
            if let oldest = small.oldest, isLarge || main.oldest == nil {
                if slots[oldest].uses > 0 {
                    small.unlink(oldest, in: &slots)
                    slots.promote(oldest)
                    main.push(oldest, in: &slots)
                } else {
                    ghosts.insert(slots[oldest].key.hash, limit: max(count, 16))
                    return remove(at: oldest)
                }
            } else if let oldest = main.oldest {
                guard slots[oldest].uses > 0 else {
                    return remove(at: oldest)
                }
                main.unlink(oldest, in: &slots)
                slots.wear(oldest)
                main.push(oldest, in: &slots)
            } else {
                return nil
            }
        }
    }
}

/// An entry's slot in a queue of the policy.
struct Slot<Value> {
    /// A vacant slot keeps its last key. An optional key would cost each comparison a copy.
    var key: CacheKey
    /// `nil` in a vacant slot.
    var value: Value?
    var weight: Int
    /// Extra rounds of a costly entry in the main queue.
    var credit: UInt8
    var isInMain: Bool
    /// Recent uses, up to three.
    var uses: UInt8 = 0
    var newer = -1
    var older = -1
}

/// All slots in one array: positions are numbers, and links need no allocation.
struct SlotList<Value> {
    private var slots: [Slot<Value>] = []
    private var vacant: [Int] = []

    var capacity: Int { slots.count }

    subscript(position: Int) -> Slot<Value> {
        _read { yield slots[position] }
    }

    mutating func add(_ slot: Slot<Value>) -> Int {
        guard let position = vacant.popLast() else {
            slots.append(slot)
            return slots.count - 1
        }
        slots[position] = slot
        return position
    }

    mutating func free(_ position: Int) -> Value? {
        let value = slots[position].value
        slots[position].value = nil
        vacant.append(position)
        return value
    }

    mutating func use(_ position: Int) {
        if slots[position].uses < 3 { slots[position].uses += 1 }
    }

    /// Moves to the main queue: its uses reset and its credit starts to count.
    mutating func promote(_ position: Int) {
        slots[position].isInMain = true
        slots[position].uses = slots[position].credit
    }

    mutating func wear(_ position: Int) { slots[position].uses -= 1 }

    mutating func change<Result>(_ position: Int, _ body: (inout Value) -> Result) -> Result? {
        guard var value = slots[position].value else { return nil }
        defer { slots[position].value = value }
        return body(&value)
    }

    mutating func link(_ position: Int, newer: Int, older: Int) {
        (slots[position].newer, slots[position].older) = (newer, older)
    }

    mutating func setNewer(_ position: Int, _ newer: Int) { slots[position].newer = newer }
    mutating func setOlder(_ position: Int, _ older: Int) { slots[position].older = older }
}

/// A queue of slots, newest to oldest.
struct SlotQueue {
    private var newest = -1
    private var last = -1
    private(set) var weight = 0
    private(set) var count = 0

    /// The oldest slot of the queue.
    var oldest: Int? { last < 0 ? nil : last }

    mutating func push<Value>(_ position: Int, in slots: inout SlotList<Value>) {
        slots.link(position, newer: -1, older: newest)
        if newest >= 0 { slots.setNewer(newest, position) } else { last = position }
        newest = position
        weight += slots[position].weight
        count += 1
    }

    mutating func unlink<Value>(_ position: Int, in slots: inout SlotList<Value>) {
        let (newer, older) = (slots[position].newer, slots[position].older)
        if newer >= 0 { slots.setOlder(newer, older) } else { newest = older }
        if older >= 0 { slots.setNewer(older, newer) } else { last = newer }
        weight -= slots[position].weight
        count -= 1
    }
}

/// Hashes of entries that left the small queue unused.
///
/// A removed hash stays in the ring as a stale slot, which its turn number reveals.
struct GhostList {
    private var turns: [UInt: Int] = [:]
    private var ring: [(hash: UInt, turn: Int)] = []
    private var first = 0
    private var turn = 0

    mutating func insert(_ hash: UInt, limit: Int) {
        turn += 1
        turns[hash] = turn
        ring.append((hash, turn))
        while turns.count > limit || ring.count - first > 2 * limit { forgetOldest() }
        if first > 1024, first * 2 > ring.count {
            ring.removeFirst(first)
            first = 0
        }
    }

    /// Removes `hash` and returns whether it was there.
    mutating func remove(_ hash: UInt) -> Bool { turns.removeValue(forKey: hash) != nil }

    private mutating func forgetOldest() {
        guard first < ring.count else { return }
        let (hash, turn) = ring[first]
        if turns[hash] == turn { turns[hash] = nil }
        first += 1
    }
}

/// Compares an entry's worth with that of earlier entries: the cost of making it again, divided by its size.
///
/// The scale is relative, so it suits any unit and any machine. In a cache of equally costly entries none gets credit.
struct WorthScale {
    /// The mean of the logarithms, so that a few very costly entries do not make all others look cheap.
    private var mean = 0.0
    private var count = 0.0

    /// Extra rounds of an entry: one if it is at least four times as costly as the mean for its size, two from sixteen times on.
    mutating func credit(cost: Double, weight: Int) -> UInt8 {
        guard cost.isFinite, cost >= 0 else { return 0 }
        let density = log2(max(cost, 0.001) / Double(max(weight, 1)))
        let lead = count > 0 ? density - mean : 0
        // A running mean of about a thousand entries.
        count = min(count + 1, 1024)
        mean += (density - mean) / count
        return lead >= 4 ? 2 : lead >= 2 ? 1 : 0
    }
}
