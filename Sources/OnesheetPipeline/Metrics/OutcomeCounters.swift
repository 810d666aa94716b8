import Synchronization

/// Counters by outcome.
package final class OutcomeCounters: Sendable {
    /// The counter of one outcome.
    package final class Counter: Sendable {
        private let count = Atomic(0)

        fileprivate var value: Int { count.load(ordering: .relaxed) }

        package func add() { count.add(1, ordering: .relaxed) }
    }

    private let counters = Mutex<[String: Counter]>([:])

    init() {}

    package var counts: [String: Int] { counters.withLock { $0.mapValues(\.value) } }

    /// - Parameter outcome: one of a fixed set, so that the number of counters is bounded.
    package func counter(of outcome: String) -> Counter {
        counters.withLock { counters in
            let counter = counters[outcome] ?? Counter()
            counters[outcome] = counter
            return counter
        }
    }
}
