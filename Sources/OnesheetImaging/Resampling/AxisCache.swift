import Synchronization

/// Tables of weights made recently: the same few sizes are asked for again and again, and a table costs hundreds of sines.
final class AxisCache: Sendable {
    private struct Key: Hashable {
        let stretch: Stretch
        let samples: Int
        let step: Int
    }

    /// Tables kept; when more are made, all are dropped, which is rare enough to cost nothing.
    private static let capacity = 96
    /// Weights of a table that is worth keeping.
    private static let largest = 1 << 17

    private let tables = Mutex<[Key: Axis]>([:])

    func axis(_ stretch: Stretch, samples: Int, step: Int) -> Axis {
        let key = Key(stretch: stretch, samples: samples, step: step)
        if let known = tables.withLock({ $0[key] }) { return known }
        let axis = Axis(stretch, samples: samples, step: step)
        guard axis.weights.count <= Self.largest else { return axis }
        tables.withLock { tables in
            if tables.count >= Self.capacity { tables.removeAll() }
            tables[key] = axis
        }
        return axis
    }
}
