import OnesheetCore
import Synchronization

/// Tables of weights made recently: the same few sizes are asked for again and again, and a table costs hundreds of sines.
final class AxisCache: Sendable {
    private struct Key: Hashable {
        let stretch: Stretch
        let samples: Int
        let step: Int
    }

    /// Bytes of all tables that are kept, and of the largest.
    static let limit = 8 << 20
    private static let largest = 512 << 10

    private let tables = Mutex(BoundedCache<Key, Axis>(bytes: limit, entries: 256))

    /// Bytes that are kept.
    var bytes: Int { tables.withLock { $0.bytes } }

    /// - Throws: `CodecError.timedOut`.
    func axis(_ stretch: Stretch, samples: Int, step: Int, by deadline: Deadline) throws(CodecError) -> Axis {
        let key = Key(stretch: stretch, samples: samples, step: step)
        if let known = tables.withLock({ $0.value(for: key) }) { return known }
        let axis = try Axis(stretch, samples: samples, step: step, by: deadline)
        guard axis.bytes <= Self.largest else { return axis }
        tables.withLock { $0.keep(axis, for: key, bytes: axis.bytes) }
        return axis
    }
}
