/// A bounded dictionary with two generations. When the younger one is full, the older one is dropped as a whole. A value that is
/// read moves to the younger, so a flood of new keys evicts the flood and not the values in use. All operations are O(1),
/// amortised.
struct SegmentedCache<Key: Hashable, Value> {
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
    ///   - count: the most values of a generation.
    ///   - weight: the greatest total weight of a generation.
    init(count: Int, weight: Int = .max) {
        countLimit = count
        weightLimit = weight
    }

    /// The value under `key`, marked as used.
    mutating func value(for key: Key) -> Value? {
        if let found = young.values[key] { return found.value }
        guard let found = old.remove(key) else { return nil }
        put(found.value, for: key, weight: found.weight)
        return found.value
    }

    /// Stores `value` under `key`. A value heavier than a whole generation is not stored.
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
