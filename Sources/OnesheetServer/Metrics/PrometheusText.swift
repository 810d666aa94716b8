import OnesheetPipeline

/// Metrics in Prometheus' text format 0.0.4. Names have the prefix `onesheet_`, except those that every process has.
struct PrometheusText {
    enum Kind: String {
        case counter, gauge, histogram, summary
    }

    /// One value of a metric.
    struct Sample {
        /// The suffix of the metric's name, such as `_sum`.
        let suffix: String
        /// Label pairs such as `tier="disk",source="a"`, or an empty string. Label values are plain words and need no escaping.
        let labels: String
        let value: String

        init(_ value: some CustomStringConvertible, labels: String = "", suffix: String = "") {
            (self.value, self.labels, self.suffix) = (value.description, labels, suffix)
        }
    }

    private(set) var text = ""

    /// Adds a metric with one unlabelled value.
    mutating func add(_ kind: Kind, _ name: String, help: String, value: some CustomStringConvertible) {
        add(kind, name, help: help, samples: [Sample(value)])
    }

    /// Adds a metric with several samples.
    /// - Parameter prefix: of the name; metrics of a process have none of ours.
    mutating func add(_ kind: Kind, _ name: String, prefix: String = "onesheet_", help: String, samples: [Sample]) {
        text += "# HELP \(prefix)\(name) \(help)\n# TYPE \(prefix)\(name) \(kind.rawValue)\n"
        for sample in samples {
            let labels = sample.labels.isEmpty ? "" : "{\(sample.labels)}"
            text += "\(prefix)\(name)\(sample.suffix)\(labels) \(sample.value)\n"
        }
    }

    /// Adds histograms, with the name of each as the value of `label`.
    mutating func add(_ histograms: [String: Histogram], _ name: String, help: String, label: String) {
        var samples: [Sample] = []
        for (value, histogram) in histograms.sorted(by: { $0.key < $1.key }) {
            let labels = "\(label)=\"\(value)\""
            var count = 0
            // Buckets are cumulative.
            for (bound, more) in zip(Histogram.bounds.map { "\($0)" } + ["+Inf"], histogram.counts) {
                count += more
                samples.append(Sample(count, labels: "\(labels),le=\"\(bound)\"", suffix: "_bucket"))
            }
            samples.append(Sample(histogram.sum, labels: labels, suffix: "_sum"))
            samples.append(Sample(count, labels: labels, suffix: "_count"))
        }
        add(.histogram, name, help: help, samples: samples)
    }
}
