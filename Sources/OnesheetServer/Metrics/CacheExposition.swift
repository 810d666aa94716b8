import FoundationEssentials
import OnesheetCore

/// The cache's figures in Prometheus' text format 0.0.4: each by tier and source, so that whoever reads them makes the sums.
struct CacheExposition {
    let tiers: [String: CacheStatistics]
    /// How often each tier could not do what it was asked.
    let failures: [String: Int]
    let now: Date

    var lines: [String] {
        counter("hits", "Look-ups that found an entry.") { [("", $0.hits)] }
            + counter("misses", "Look-ups that found none.") { [("", $0.misses)] }
            + counter("stores", "Entries stored.") { [("", $0.stores)] }
            + counter("damaged", "Entries found damaged and not served.") { [("", $0.damaged)] }
            + counter("evictions", "Entries that the tier removed by itself or refused, by reason.") { figures in
                figures.evictions.sorted { $0.key < $1.key }.map { (",reason=\"\($0.key)\"", $0.value) }
            }
            + metric(
                "failures_total", "counter", "Operations that a tier failed to do, so that it was passed by.",
                failures.sorted { $0.key < $1.key }.map { ("tier=\"\($0.key)\"", "\($0.value)") })
            + gauge("entries", "Entries there now.") { "\($0.entries)" }
            + gauge("bytes", "Bytes there now.") { "\($0.bytes)" }
            + gauge("oldest_seconds", "Age of the oldest entry.") { figures in
                figures.oldest.map { "\(max(now.timeIntervalSince($0), 0).rounded())" }
            }
            + tierGauge("limit_bytes", "Bytes that there may be.") { "\($0.byteLimit)" }
            + tierGauge("fill_ratio", "Part of the limit that is taken, 0 to 1.") { "\($0.fill)" }
    }

    private func counter(_ name: String, _ text: String, _ values: (CacheFigures) -> [(String, Int)]) -> [String] {
        metric("\(name)_total", "counter", text, each { labels, figures in values(figures).map { (labels + $0.0, "\($0.1)") } })
    }

    private func gauge(_ name: String, _ text: String, _ value: (CacheFigures) -> String?) -> [String] {
        metric(name, "gauge", text, each { labels, figures in value(figures).map { [(labels, $0)] } ?? [] })
    }

    private func tierGauge(_ name: String, _ text: String, _ value: (CacheStatistics) -> String) -> [String] {
        metric(name, "gauge", text, tiers.sorted { $0.key < $1.key }.map { ("tier=\"\($0.key)\"", value($0.value)) })
    }

    /// Goes through tiers and sources in the order of their names. A tier that has counted nothing yet says so under the empty source.
    private func each(_ body: (String, CacheFigures) -> [(String, String)]) -> [(String, String)] {
        tiers.sorted { $0.key < $1.key }.flatMap { tier, statistics in
            let sources = statistics.sources.isEmpty ? ["": CacheFigures()] : statistics.sources
            return sources.sorted { $0.key < $1.key }.flatMap { body("tier=\"\(tier)\",source=\"\($0.key)\"", $0.value) }
        }
    }

    private func metric(_ name: String, _ type: String, _ text: String, _ values: [(String, String)]) -> [String] {
        ["# HELP onesheet_cache_\(name) \(text)", "# TYPE onesheet_cache_\(name) \(type)"]
            + values.map { "onesheet_cache_\(name){\($0.0)} \($0.1)" }
    }
}
