import Synchronization

/// How often something took how long, as Prometheus counts it.
package struct Histogram: Sendable, Equatable {
    /// The buckets' upper bounds in seconds.
    package static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    /// By bucket; the last one has no bound.
    package private(set) var counts = [Int](repeating: 0, count: Self.bounds.count + 1)
    package private(set) var sum = 0.0

    package mutating func add(_ seconds: Double) {
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }
}

/// Histograms by the name of what took the time.
package final class Histograms: Sendable {
    private let all = Mutex<[String: Histogram]>([:])

    package init() {}

    package var byName: [String: Histogram] { all.withLock { $0 } }

    /// - Parameter name: one of ours, so that there are only so many.
    package func add(_ duration: Duration, to name: String) {
        all.withLock { $0[name, default: Histogram()].add(duration / .seconds(1)) }
    }
}
