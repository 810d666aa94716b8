import Synchronization

/// Counters and durations of the pipeline since the start.
package final class PipelineMetrics: Sendable {
    /// The durations of the stages, once for each flight.
    package let stages = Histograms()
    /// The last making of each recent variant.
    package let makings = RecentMakings()
    /// Images that were asked for, once each, by where they came from.
    package let images = OutcomeCounters()
    private let counted = Mutex(Counts())

    /// Counters since the start.
    package struct Counts: Sendable, Equatable {
        /// Variants made.
        package var renders = 0
        /// Those among them that are not kept because their origin forbids it.
        package var notKept = 0
    }

    package init() {}

    package var counts: Counts { counted.withLock { $0 } }

    func add(_ field: WritableKeyPath<Counts, Int>, _ number: Int = 1) { counted.withLock { $0[keyPath: field] += number } }
}

/// A histogram of durations in the form of Prometheus.
package struct Histogram: Sendable, Equatable {
    /// The upper bounds of the buckets in seconds.
    package static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    /// Counts by bucket; the last one has no bound.
    package private(set) var counts = [Int](repeating: 0, count: Self.bounds.count + 1)
    package private(set) var sum = 0.0

    package init() {}

    /// A histogram that was counted elsewhere.
    /// - Parameters:
    ///   - counts: one for each bound, and one without.
    ///   - sum: in seconds.
    package init(counts: [Int], sum: Double) {
        precondition(counts.count == Self.bounds.count + 1, "a count for each bucket")
        self.counts = counts
        self.sum = sum
    }

    package mutating func add(_ seconds: Double) {
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }
}

/// Histograms by stage.
package final class Histograms: Sendable {
    private let all = Mutex<[String: Histogram]>([:])

    package init() {}

    package var byName: [String: Histogram] { all.withLock { $0 } }

    /// - Parameter name: one of a fixed set, so that the number of histograms is bounded.
    package func add(_ duration: Duration, to name: String) {
        all.withLock { $0[name, default: Histogram()].add(duration / .seconds(1)) }
    }
}

/// Measures the stages of one request.
struct Stopwatch {
    private var last = ContinuousClock.now
    /// The stages that have ended.
    private(set) var laps: [StageTiming] = []
    private let metrics: PipelineMetrics

    init(_ metrics: PipelineMetrics) { self.metrics = metrics }

    /// Ends the stage `name` and records it.
    /// - Returns: all stages so far.
    mutating func lap(_ name: String) -> [StageTiming] {
        let now = ContinuousClock.now
        metrics.stages.add(now - last, to: name)
        laps.append(StageTiming(stage: name, milliseconds: (now - last) / .milliseconds(1)))
        last = now
        return laps
    }
}
