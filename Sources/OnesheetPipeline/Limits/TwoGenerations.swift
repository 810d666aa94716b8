/// Values by key, no more than there is room for: two generations of which the older is forgotten as a whole when the younger is full.
/// A value that is read moves to the younger, so that a flood of new keys evicts the flood and not the values in use. Everything is O(1),
/// amortised.
struct TwoGenerations<Key: Hashable, Value> {
    private struct Generation {
        var values: [Key: (value: Value, weight: Int)] = [:]
        var weight = 0

        mutating func remove(_ key: Key) -> (value: Value, weight: Int)? {
            guard let found = values.removeValue(forKey: key) else { return nil }
            weight -= found.weight
            return found
        }
    }

    private var young = Generation()
    private var old = Generation()
    private let countLimit: Int
    private let weightLimit: Int

    /// - Parameters:
    ///   - count: how many values a generation may have.
    ///   - weight: how much they may weigh together.
    init(count: Int, weight: Int = .max) { (countLimit, weightLimit) = (count, weight) }

    var count: Int { young.values.count + old.values.count }

    /// The value under `key`, noted as used.
    mutating func value(for key: Key) -> Value? {
        if let found = young.values[key] { return found.value }
        guard let found = old.remove(key) else { return nil }
        put(found.value, for: key, weight: found.weight)
        return found.value
    }

    /// Puts `value` under `key`. One that weighs more than a generation may is not kept.
    mutating func set(_ value: Value, for key: Key, weight: Int = 0) {
        remove(key)
        guard weight <= weightLimit else { return }
        put(value, for: key, weight: weight)
    }

    mutating func remove(_ key: Key) {
        _ = young.remove(key)
        _ = old.remove(key)
    }

    private mutating func put(_ value: Value, for key: Key, weight: Int) {
        if young.values.count >= countLimit || young.weight + weight > weightLimit {
            old = young
            young = Generation()
        }
        young.values[key] = (value, weight)
        young.weight += weight
    }
}
