import FoundationEssentials
import HTTPTypes
import OnesheetCore
import OnesheetImaging
import OnesheetIsolation
import OnesheetPipeline
import OnesheetTransport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The metrics of requests, clients, pipeline stages and renders.
struct ServerMetrics {
    let counters: ServerCounters
    let pipeline: Pipeline
    let renderThreads: Int
    let lost: LostProcesses

    func write(to text: inout MetricList) {
        writeRequests(to: &text)
        writeClients(to: &text)
        text.add(
            pipeline.metrics.stages.byName, "stage_seconds", help: "Duration of the stages of an image request.", label: "stage")
        writeWork(to: &text)
        ProcessMetrics().write(to: &text)
    }

    private func writeRequests(to text: inout MetricList) {
        let answers = counters.answers.map { (route: $0.key.route, status: $0.key.status.label, count: $0.value) }
        text.add(
            .counter, "requests_total", help: "Requests answered, by route and status class.",
            samples: answers.sorted { ($0.route, $0.status) < ($1.route, $1.status) }.map {
                .init($0.count, labels: [("route", $0.route), ("status", $0.status)])
            })
        let routes = counters.byRoute.filter { !$0.value.counts.isEmpty }.sorted { $0.key < $1.key }
        text.add(
            Dictionary(uniqueKeysWithValues: routes.map { ($0.key, $0.value.times) }), "request_seconds",
            help: "Time until a response begins, by route.", label: "route")
        text.add(
            .counter, "response_bytes_total", help: "Bytes of response bodies, by route.",
            samples: routes.map { .init($0.value.bytes, labels: [("route", $0.key)]) })
        text.add(
            .counter, "fast_path_requests_total", help: "Requests that an event loop answered at once, by route.",
            samples: routes.map { .init($0.value.immediateAnswers, labels: [("route", $0.key)]) })
        text.add(
            .counter, "images_total", help: "Images asked for, once each, by the tier that had them or how they were made.",
            samples: pipeline.metrics.images.counts.sorted { $0.key < $1.key }.map {
                .init($0.value, labels: [("outcome", $0.key)])
            })
        text.add(
            .counter, "access_log_dropped_total", help: "Requests without a line in the access log.",
            samples: counters.accessLog.map { [.init($0.dropped)] } ?? [])
        text.add(
            .counter, "trace_spans_total", help: "Spans sent to the collector, or dropped because it did not take them.",
            samples: counters.collector.map { collector in
                let counts = collector.counts
                return [.init(counts.sent, labels: [("outcome", "sent")]), .init(counts.dropped, labels: [("outcome", "dropped")])]
            } ?? [])
        text.add(.gauge, "connections", help: "Open connections.", value: counters.connections.count)
    }

    private func writeClients(to text: inout MetricList) {
        let (connections, memory) = (counters.connections, counters.connections.memory)
        text.add(
            .counter, "clients_refused_total", help: "Connections and requests refused or closed, by reason.",
            samples: OpenConnections.Refusal.allCases.map {
                .init(connections.refused[$0] ?? 0, labels: [("reason", $0.rawValue)])
            })
        text.add(
            .gauge, "response_bytes_held", help: "Bytes of response bodies in flight; a shared body counts once.",
            value: memory.held)
        text.add(.gauge, "response_bytes_limit", help: "Bytes that these may have.", value: memory.limit)
    }

    private func writeWork(to text: inout MetricList) {
        let (pool, background) = (pipeline.pool, pipeline.background)
        text.add(.counter, "renders_total", help: "Variants rendered.", value: pipeline.metrics.counts.renders)
        text.add(
            .counter, "images_not_kept_total", help: "Variants made and not kept, because their origin forbids it.",
            value: pipeline.metrics.counts.notKept)
        text.add(.gauge, "render_jobs", help: "Renders running and waiting.", value: pool.load)
        // The label `lane` is older than the word urgency, and dashboards use it.
        text.add(
            .gauge, "render_queue", help: "Renders waiting for a worker, by urgency.",
            samples: Urgency.allCases.map { .init(pool.waiting($0), labels: [("lane", "\($0)")]) })
        text.add(.gauge, "render_workers", help: "Render threads.", value: renderThreads)
        text.add(
            .gauge, "workers_stuck", help: "Threads with a job past its deadline, by the work that they do.",
            samples: [
                .init(pool.stuck.render, labels: [("lane", "render")]), .init(pool.stuck.examine, labels: [("lane", "examine")]),
            ])
        text.add(
            .gauge, "render_processes", help: "Processes in which images are read and made.", value: pipeline.engine.processes)
        text.add(
            .counter, "workers_lost_total", help: "Render processes lost, by reason.",
            samples: ProcessLoss.allCases.map { .init(lost[$0], labels: [("reason", $0.rawValue)]) })
        text.add(
            .gauge, "refreshes_under_way", help: "Background work in progress, such as refreshes of stale images.",
            value: background.underWay)
        text.add(
            .counter, "refreshes_skipped_total", help: "Background work skipped because too much was in progress.",
            value: background.skipped)
        text.add(
            .gauge, "render_memory_bytes",
            help: "Bytes that originals, pixels, responses, TLS connections and HTTP/2 streams have.",
            value: pool.memory.reserved)
        text.add(.gauge, "render_memory_limit_bytes", help: "Bytes that these may have.", value: pool.memory.limit)
        text.add(
            .gauge, "process_resident_memory_bytes", help: "Resident memory of the process.",
            samples: ProcessMemory.resident.map { [.init($0)] } ?? [])
        text.add(
            .gauge, "build_info", help: "1, with the version of the server.",
            samples: [.init(1, labels: [("version", ServerVersion.current)])])
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

/// The memory of this process.
enum ProcessMemory {
    /// Resident memory in bytes, from the second field of Linux's `statm`, which counts pages. `nil` on other systems.
    static var resident: Int? {
        do {
            let numbers = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            return numbers.count > 1 ? Int(numbers[1]).map { $0 * Int(getpagesize()) } : nil
        } catch {
            return nil
        }
    }
}
