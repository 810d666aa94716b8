/// A cache with a limit on bytes and entries. It evicts the least recently used value first.
///
/// For few entries: it scans all of them to find the oldest.
struct BoundedCache<Key: Hashable, Value> {
    private struct Entry {
        let value: Value
        let bytes: Int
        var used: UInt64
    }

    /// The most bytes and entries.
    let limit: Int
    let entries: Int
    private(set) var bytes = 0
    private var values: [Key: Entry] = [:]
    private var clock: UInt64 = 0

    init(bytes limit: Int, entries: Int) {
        self.limit = limit
        self.entries = entries
    }

    var count: Int { values.count }

    mutating func value(for key: Key) -> Value? {
        guard var entry = values[key] else { return nil }
        clock += 1
        entry.used = clock
        values[key] = entry
        return entry.value
    }

    /// Stores a value, unless it alone exceeds the limit.
    mutating func keep(_ value: Value, for key: Key, bytes size: Int) {
        if let old = values.removeValue(forKey: key) { bytes -= old.bytes }
        guard size <= limit else { return }
        while bytes + size > limit || values.count >= entries, let oldest = values.min(by: { $0.value.used < $1.value.used }) {
            values[oldest.key] = nil
            bytes -= oldest.value.bytes
        }
        clock += 1
        values[key] = Entry(value: value, bytes: size, used: clock)
        bytes += size
    }
}
