import FoundationEssentials
import OnesheetCore

/// The cache's metrics by tier and source. Sums are left to queries.
struct CacheMetrics {
    let tiers: [String: CacheStatistics]
    /// The number of failed operations by tier.
    let failures: [String: Int]
    let now: Date

    func write(to text: inout MetricList) {
        counter("hits", "Lookups that found an entry.", in: &text) { [([], $0.hits)] }
        counter("misses", "Lookups that found none.", in: &text) { [([], $0.misses)] }
        counter("stores", "Entries stored.", in: &text) { [([], $0.stores)] }
        counter("damaged", "Entries found damaged and not served.", in: &text) { [([], $0.damaged)] }
        counter("evictions", "Entries evicted or refused, by reason.", in: &text) { figures in
            figures.evictions.sorted { $0.key < $1.key }.map { ([("reason", $0.key)], $0.value) }
        }
        text.add(
            .counter, "cache_failures_total", help: "Failed operations, by tier.",
            samples: failures.sorted { $0.key < $1.key }.map { .init($0.value, labels: [("tier", $0.key)]) })
        gauge("entries", "Current number of entries.", in: &text) { .init($0.entries, labels: $1) }
        gauge("bytes", "Current size in bytes.", in: &text) { .init($0.bytes, labels: $1) }
        gauge("oldest_seconds", "Age of the oldest entry.", in: &text) { figures, labels in
            figures.oldest.map { .init(max(now.timeIntervalSince($0), 0).rounded(), labels: labels) }
        }
        tierGauge("limit_bytes", "Size limit in bytes.", in: &text) { .init($0.byteLimit, labels: $1) }
        tierGauge("fill_ratio", "Used part of the limit, 0 to 1.", in: &text) { .init($0.fill, labels: $1) }
    }

    private func counter(
        _ name: String, _ help: String, in text: inout MetricList,
        values: (CacheFigures) -> [(labels: MetricList.Labels, value: Int)]
    ) {
        let samples = samples { labels, figures in values(figures).map { .init($0.value, labels: labels + $0.labels) } }
        text.add(.counter, "cache_\(name)_total", help: help, samples: samples)
    }

    private func gauge(
        _ name: String, _ help: String, in text: inout MetricList,
        sample: (CacheFigures, MetricList.Labels) -> MetricList.Sample?
    ) {
        let samples = samples { labels, figures in sample(figures, labels).map { [$0] } ?? [] }
        text.add(.gauge, "cache_\(name)", help: help, samples: samples)
    }

    private func tierGauge(
        _ name: String, _ help: String, in text: inout MetricList,
        sample: (CacheStatistics, MetricList.Labels) -> MetricList.Sample
    ) {
        let samples = tiers.sorted { $0.key < $1.key }.map { tier, statistics in sample(statistics, [("tier", tier)]) }
        text.add(.gauge, "cache_\(name)", help: help, samples: samples)
    }

    /// Visits tiers and sources in name order. A tier without counts yet has one sample with an empty source.
    private func samples(_ body: (MetricList.Labels, CacheFigures) -> [MetricList.Sample]) -> [MetricList.Sample] {
        tiers.sorted { $0.key < $1.key }.flatMap { tier, statistics in
            let sources = statistics.sources.isEmpty ? ["": CacheFigures()] : statistics.sources
            return sources.sorted { $0.key < $1.key }.flatMap { body([("tier", tier), ("source", $0.key)], $0.value) }
        }
    }
}
