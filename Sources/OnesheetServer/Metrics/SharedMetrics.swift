import OnesheetCluster

/// The metrics of the store that several servers share.
struct SharedMetrics {
    let metrics: SharedTierMetrics
    /// Decisions of other servers that are not read yet.
    let unreadDecisions: Int

    func write(to text: inout MetricList) {
        text.add(.gauge, "shared_up", help: "Whether the shared store answers, 0 or 1.", value: metrics.isUp ? 1 : 0)
        let requests = metrics.requests.sorted { $0.key < $1.key }
        text.add(
            .counter, "shared_requests_total", help: "Requests to the shared store, by operation and outcome.",
            samples: requests.flatMap { operation, requests in
                requests.outcomes.sorted { $0.key < $1.key }.map {
                    .init($0.value, labels: [("operation", operation), ("outcome", $0.key)])
                }
            })
        text.add(
            .summary, "shared_seconds", help: "Time of requests to the shared store, by operation.",
            samples: requests.flatMap { operation, requests in
                let labels = [("operation", operation)]
                return [
                    MetricList.Sample(requests.seconds, labels: labels, suffix: "_sum"),
                    MetricList.Sample(requests.count, labels: labels, suffix: "_count"),
                ]
            })
        text.add(
            .counter, "shared_bytes_total", help: "Bytes read from and written to the shared store.",
            samples: [
                .init(metrics.bytesRead, labels: [("direction", "read")]),
                .init(metrics.bytesWritten, labels: [("direction", "written")]),
            ])
        text.add(.gauge, "shared_queue", help: "Entries that wait to be written to the shared store.", value: metrics.queued)
        text.add(.gauge, "shared_queue_bytes", help: "Bytes of those entries.", value: metrics.queuedBytes)
        text.add(
            .counter, "shared_dropped_total", help: "Entries not written to the shared store, by reason.",
            samples: metrics.dropped.sorted { $0.key < $1.key }.map { .init($0.value, labels: [("reason", $0.key)]) })
        text.add(
            .counter, "shared_damaged_total", help: "Damaged objects found in the shared store, not served and deleted.",
            value: metrics.damaged)
        text.add(
            .gauge, "shared_decisions_unread",
            help: "Decisions about posters by other servers that could not be read yet; 1 if all have to be read.",
            value: unreadDecisions)
    }
}
