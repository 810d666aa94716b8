import Metrics

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
                switch (metric.kind, sample.value) {
                case (.gauge, .whole(let number)): set(name, sample.labels, to: Double(number))
                case (.gauge, .fraction(let number)): set(name, sample.labels, to: number)
                case (_, .whole(let count)): add(toCount: name, sample.labels, Int64(clamping: count))
                case (_, .fraction(let sum)): add(toSum: name, sample.labels, sum)
                }
            }
        }
    }

    private func set(_ name: String, _ labels: MetricList.Labels, to value: Double) {
        let key = "\(name) \(labels)"
        let meter = meters[key] ?? Meter(label: name, dimensions: labels, factory: factory)
        meters[key] = meter
        meter.set(value)
    }

    private func add(toSum name: String, _ labels: MetricList.Labels, _ value: Double) {
        let key = "\(name) \(labels)"
        let known = sums[key] ?? (FloatingPointCounter(label: name, dimensions: labels, factory: factory), 0)
        if value > known.last { known.handle.increment(by: value - known.last) }
        sums[key] = (known.handle, value)
    }

    private func add(toCount name: String, _ labels: MetricList.Labels, _ value: Int64) {
        let key = "\(name) \(labels)"
        let known = counts[key] ?? (Counter(label: name, dimensions: labels, factory: factory), 0)
        // A counter that begins anew, after a reload, is counted from there on.
        if value > known.last { known.handle.increment(by: value - known.last) }
        counts[key] = (known.handle, value)
    }
}
