import OnesheetPipeline

/// The sources' part of `/metrics`, in Prometheus' text format 0.0.4.
///
/// Names of sources are words (`TitleReference.isSourceName`), so nothing in a label needs escaping.
struct SourceExposition {
    /// In the order of the configuration.
    let watches: [(name: String, watch: SourceWatch)]

    var text: String {
        let figures = watches.map { (source: "source=\"\($0.name)\"", health: $0.watch.health, figures: $0.watch.figures) }
        let calls = figures.flatMap { source, _, figures in
            SourceOutcome.allCases.map { ("{\(source),outcome=\"\($0.rawValue)\"}", "\(figures.calls[$0] ?? 0)") }
        }
        let times = figures.flatMap { source, _, figures in
            [("_sum{\(source)}", "\(figures.seconds)"), ("_count{\(source)}", "\(figures.timed)")]
        }
        return Self.family("calls_total", "counter", "Calls to a source by what came of them.", calls)
            + Self.family("call_seconds", "summary", "How long calls took.", times)
            + Self.family(
                "calls_under_way", "gauge", "Calls that have not ended, abandoned ones included.",
                figures.map { ("{\($0.source)}", "\($0.figures.underWay)") })
            + Self.family(
                "healthy", "gauge", "1 where the source answers, 0 where it fails or its quota is used up.",
                figures.map { ("{\($0.source)}", $0.health == .well ? "1" : "0") })
    }

    private static func family(_ name: String, _ type: String, _ help: String, _ values: [(String, String)]) -> String {
        "# HELP onesheet_source_\(name) \(help)\n# TYPE onesheet_source_\(name) \(type)\n"
            + values.map { "onesheet_source_\(name)\($0) \($1)\n" }.joined()
    }
}
