import OnesheetPipeline

/// The sources' metrics. Source names are plain words (`TitleReference.isSourceName`) and need no escaping.
struct SourceMetrics {
    /// In configuration order.
    let watches: [(name: String, watch: SourceWatch)]
    /// Hosts of images and services that are in trouble.
    let troubledHosts: Int

    func write(to text: inout MetricList) {
        let sources = watches.map { (label: ("source", $0.name), health: $0.watch.health, metrics: $0.watch.metrics) }
        text.add(
            .counter, "source_calls_total", help: "Calls to a source, by outcome.",
            samples: sources.flatMap { source in
                SourceOutcome.allCases.map { outcome in
                    .init(source.metrics.calls[outcome] ?? 0, labels: [source.label, ("outcome", outcome.rawValue)])
                }
            })
        text.add(
            .summary, "source_call_seconds", help: "Duration of calls.",
            samples: sources.flatMap { source -> [MetricList.Sample] in
                [
                    .init(source.metrics.seconds, labels: [source.label], suffix: "_sum"),
                    .init(source.metrics.timed, labels: [source.label], suffix: "_count"),
                ]
            })
        text.add(
            .gauge, "source_calls_under_way", help: "Calls in progress, including abandoned calls.",
            samples: sources.map { .init($0.metrics.underWay, labels: [$0.label]) })
        text.add(
            .gauge, "source_healthy",
            help:
                "1 if the source is healthy, 0 if it or a host of its allow-list fails, its quota is exhausted, or it wants no calls for a minute or more.",
            samples: sources.map { .init($0.health == .well ? 1 : 0, labels: [$0.label]) })
        text.add(
            .gauge, "origin_hosts_troubled",
            help:
                "Hosts of services and originals that cannot be reached, do not answer, or asked for a pause, also those in no allow-list.",
            value: troubledHosts)
    }
}
