import Metrics
import OnesheetCore

/// Gives each value of `/metrics` to a metric of swift-metrics. Counters of swift-metrics are increased by what ours have grown.
actor MetricsForwarder {
    private let factory: any MetricsFactory
    private var sums: [String: (handle: FloatingPointCounter, last: Double)] = [:]
    private var counts: [String: (handle: Counter, last: Int64)] = [:]
    private var meters: [String: Meter] = [:]

    init(_ factory: any MetricsFactory) { self.factory = factory }

    func pass(_ list: MetricList) {
        for metric in list.metrics {
            for sample in metric.samples {
                let name = metric.name + sample.suffix
                if metric.kind == .gauge {
                    set(name, labels: sample.labels, to: sample.value)
                } else if let count = Int64(sample.value) {
                    add(toCount: name, sample.labels, count)
                } else {
                    add(toSum: name, sample.labels, sample.value)
                }
            }
        }
    }

    private func set(_ name: String, labels: String, to value: String) {
        guard let value = Double(value) else { return }
        let key = "\(name) \(labels)"
        let meter = meters[key] ?? Meter(label: name, dimensions: Self.dimensions(labels), factory: factory)
        meters[key] = meter
        meter.set(value)
    }

    private func add(toSum name: String, _ labels: String, _ value: String) {
        guard let value = Double(value) else { return }
        let key = "\(name) \(labels)"
        let known =
            sums[key] ?? (FloatingPointCounter(label: name, dimensions: Self.dimensions(labels), factory: factory), 0)
        if value > known.last { known.handle.increment(by: value - known.last) }
        sums[key] = (known.handle, value)
    }

    private func add(toCount name: String, _ labels: String, _ value: Int64) {
        let key = "\(name) \(labels)"
        let known = counts[key] ?? (Counter(label: name, dimensions: Self.dimensions(labels), factory: factory), 0)
        // A counter that begins anew, after a reload, is counted from there on.
        if value > known.last { known.handle.increment(by: value - known.last) }
        counts[key] = (known.handle, value)
    }

    /// The pairs of `a="b",c="d"`.
    private static func dimensions(_ labels: String) -> [(String, String)] {
        labels.pieces(at: ",").compactMap { pair in
            pair.cut(at: "=").map { (String($0.before), $0.after.filter { $0 != "\"" }) }
        }
    }
}
