import FoundationEssentials
import OnesheetCache
import OnesheetCore
import Synchronization

/// Remembers values, each for its own time. A purge forgets all of them.
///
/// In memory only, and bounded in the number of values and in the bytes of their keys, which strangers may choose.
final class TimedMemory<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Remembered {
        let value: Value
        /// A time before the value was remembered is outside of it: the clock was set back.
        let time: Range<Date>
        let generation: CacheGeneration
    }

    private let values = Mutex(SegmentedCache<Key, Remembered>(count: 8192, weight: 4 << 20))
    private let clock: WallClock

    init(clock: WallClock) { self.clock = clock }

    /// The value for `key`, if it is still remembered.
    func recall(_ key: Key, at generation: CacheGeneration) -> Value? {
        let now = clock.now
        return values.withLock { values -> Value? in
            guard let known = values.value(for: key) else { return nil }
            if known.time.contains(now), known.generation == generation { return known.value }
            values.remove(key)
            return nil
        }
    }

    /// - Parameter bytes: the size of the key.
    func remember(_ value: Value, for key: Key, seconds: Double, bytes: Int, at generation: CacheGeneration) {
        let now = clock.now
        let remembered = Remembered(value: value, time: now..<now.addingTimeInterval(seconds), generation: generation)
        values.withLock { $0.set(remembered, for: key, weight: bytes) }
    }
}
