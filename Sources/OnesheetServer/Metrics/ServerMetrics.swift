import HTTPTypes
import OnesheetCore
import OnesheetPipeline

/// The metrics of requests, clients, pipeline stages and workers.
struct ServerMetrics {
    let figures: ServerFigures
    let pipeline: Pipeline
    let workers: Int

    func write(to text: inout PrometheusText) {
        writeRequests(to: &text)
        writeClients(to: &text)
        text.add(pipeline.figures.stages, "stage_seconds", help: "Time that the stages of an image took.", label: "stage")
        writeWork(to: &text)
    }

    private func writeRequests(to text: inout PrometheusText) {
        let answers = figures.answers.map { ("route=\"\($0.key.route)\",status=\"\($0.key.status.label)\"", $0.value) }
        text.add(
            .counter, "requests_total", help: "Requests answered, by route and class of status.",
            samples: answers.sorted { $0.0 < $1.0 }.map { .init($0.1, labels: $0.0) })
        text.add(
            figures.times, "request_seconds", help: "Time until a route had its answer, but for what memory answered at once.",
            label: "route")
        text.add(.gauge, "connections", help: "Connections open now.", value: figures.connections.count)
    }

    private func writeClients(to text: inout PrometheusText) {
        let (connections, memory) = (figures.connections, figures.connections.memory)
        text.add(
            .counter, "clients_refused_total", help: "Connections and requests that were refused or cut off, by reason.",
            samples: OpenConnections.Refusal.allCases.map {
                .init(connections.refused[$0] ?? 0, labels: "reason=\"\($0.rawValue)\"")
            })
        text.add(
            .gauge, "response_bytes_held", help: "Bytes of answers that clients have not taken yet, each body once.",
            value: memory.held)
        text.add(.gauge, "response_bytes_limit", help: "Bytes that these may have.", value: memory.limit)
    }

    private func writeWork(to text: inout PrometheusText) {
        let (pool, background) = (pipeline.pool, pipeline.background)
        text.add(
            .gauge, "render_queue", help: "Renders that wait for a worker, by lane.",
            samples: Urgency.allCases.map { .init(pool.waiting($0), labels: "lane=\"\($0)\"") })
        text.add(.gauge, "render_workers", help: "Threads that render.", value: workers)
        text.add(
            .gauge, "workers_stuck", help: "Threads whose job is past its deadline and does not end, by lane.",
            samples: [
                .init(pool.stuck.render, labels: "lane=\"render\""), .init(pool.stuck.examine, labels: "lane=\"examine\""),
            ])
        text.add(
            .gauge, "refreshes_under_way", help: "Stale images that are being made anew, and other work that nobody waits for.",
            value: background.underWay)
        text.add(
            .counter, "refreshes_skipped_total", help: "Such work that was not begun because there was too much already.",
            value: background.skipped)
        text.add(
            .gauge, "render_memory_bytes", help: "Bytes of originals under way and of pixels in the making.",
            value: pool.memory.reserved)
        text.add(.gauge, "render_memory_limit_bytes", help: "Bytes that these may have.", value: pool.memory.limit)
        text.add(
            .gauge, "process_resident_memory_bytes", help: "Memory that the process occupies.",
            samples: ProcessMemory.resident.map { [.init($0)] } ?? [])
    }
}

extension HTTPResponse.Status.Kind {
    /// The status class as Prometheus users write it.
    fileprivate var label: String {
        switch self {
        case .informational: "1xx"
        case .successful: "2xx"
        case .redirection: "3xx"
        case .clientError: "4xx"
        case .serverError: "5xx"
        case .invalid: "invalid"
        }
    }
}
