import OnesheetPipeline

/// The server's metrics at one moment. Names have the prefix `onesheet_`, except those that every process has.
struct MetricList {
    enum Kind: String {
        case counter, gauge, histogram, summary
    }

    /// The names of labels with their values, which are plain words and need no escaping. Backends of swift-metrics call them dimensions.
    typealias Labels = [(String, String)]

    /// A number as it is counted: counts stay exact.
    enum Value: CustomStringConvertible {
        // Wide enough for the limits of a process, which may be infinite.
        case whole(Int128)
        case fraction(Double)

        var description: String {
            switch self {
            case .whole(let number): "\(number)"
            case .fraction(let number): "\(number)"
            }
        }
    }

    /// One value of a metric.
    struct Sample {
        /// The suffix of the metric's name, such as `_sum`.
        let suffix: String
        let labels: Labels
        let value: Value

        init(_ value: some BinaryInteger, labels: Labels = [], suffix: String = "") {
            self.init(.whole(Int128(value)), labels, suffix)
        }

        init(_ value: Double, labels: Labels = [], suffix: String = "") { self.init(.fraction(value), labels, suffix) }

        private init(_ value: Value, _ labels: Labels, _ suffix: String) {
            self.value = value
            self.labels = labels
            self.suffix = suffix
        }
    }

    /// A metric with all its values.
    struct Metric {
        let kind: Kind
        let name: String
        let help: String
        let samples: [Sample]
    }

    private(set) var metrics: [Metric] = []

    /// Adds a metric with one unlabelled value.
    mutating func add(_ kind: Kind, _ name: String, help: String, value: some BinaryInteger) {
        add(kind, name, help: help, samples: [Sample(value)])
    }

    /// Adds a metric with one unlabelled value.
    mutating func add(_ kind: Kind, _ name: String, help: String, value: Double) {
        add(kind, name, help: help, samples: [Sample(value)])
    }

    /// Adds a metric with several samples.
    /// - Parameter prefix: of the name; metrics of a process have none of ours.
    mutating func add(_ kind: Kind, _ name: String, prefix: String = "onesheet_", help: String, samples: [Sample]) {
        metrics.append(Metric(kind: kind, name: prefix + name, help: help, samples: samples))
    }

    /// Adds histograms, with the name of each as the value of `label`.
    mutating func add(_ histograms: [String: Histogram], _ name: String, help: String, label: String) {
        var samples: [Sample] = []
        for (value, histogram) in histograms.sorted(by: { $0.key < $1.key }) {
            let labels = [(label, value)]
            var count = 0
            // Buckets are cumulative.
            for (bound, more) in zip(Histogram.bounds.map { "\($0)" } + ["+Inf"], histogram.counts) {
                count += more
                samples.append(Sample(count, labels: labels + [("le", bound)], suffix: "_bucket"))
            }
            samples.append(Sample(histogram.sum, labels: labels, suffix: "_sum"))
            samples.append(Sample(count, labels: labels, suffix: "_count"))
        }
        add(.histogram, name, help: help, samples: samples)
    }

    /// Prometheus' text format 0.0.4.
    var prometheusText: String {
        var text = ""
        for metric in metrics {
            text += "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n"
            for sample in metric.samples {
                let labels = sample.labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
                text += "\(metric.name)\(sample.suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)\n"
            }
        }
        return text
    }
}
