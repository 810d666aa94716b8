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
        (weightLimit, countLimit) = (weight, count)
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
        return takeOut(position)
    }

    /// Removes all entries at once.
    package mutating func takeAll() -> Self {
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
    private mutating func takeOut(_ position: Int) -> Value? {
        positions.remove(position, under: slots[position].key.hash)
        weight -= slots[position].weight
        if slots[position].isInMain { main.unlink(position, in: &slots) } else { small.unlink(position, in: &slots) }
        return slots.free(position)
    }

    /// Evicts one entry and returns its value. Each turn removes an entry, moves one on, or uses up one of its credits, so the loop
    /// ends.
    private mutating func evictOne() -> Value? {
        while true {
            if let oldest = small.oldest, small.weight * 10 > weightLimit || main.oldest == nil {
                if slots[oldest].uses > 0 {
                    small.unlink(oldest, in: &slots)
                    slots.promote(oldest)
                    main.push(oldest, in: &slots)
                } else {
                    ghosts.insert(slots[oldest].key.hash, limit: max(count, 16))
                    return takeOut(oldest)
                }
            } else if let oldest = main.oldest {
                guard slots[oldest].uses > 0 else {
                    return takeOut(oldest)
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
