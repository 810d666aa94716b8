import HTTPTypes
import OnesheetCore
import OnesheetPipeline

/// The figures of requests, stages and work in Prometheus' text format 0.0.4.
struct ServerExposition {
    let figures: ServerFigures
    let pipeline: Pipeline
    /// Worker threads.
    let workers: Int

    var lines: [String] { requests + stages + work }

    private var requests: [String] {
        let answers = figures.answers.map { ("{route=\"\($0.key.route)\",status=\"\($0.key.status.label)\"}", $0.value) }
        return Self.values(
            "requests_total", "counter", "Requests answered, by route and class of status.", answers.sorted { $0.0 < $1.0 })
            + Self.histograms(
                "request_seconds", "Time until a route had its answer, but for what memory answered at once.", "route",
                figures.times)
            + Self.values("connections", "gauge", "Connections open now.", [("", figures.connections.count)])
            + clients
    }

    private var clients: [String] {
        let (connections, memory) = (figures.connections, figures.connections.memory)
        let refused = OpenConnections.Refusal.allCases.map { ("{reason=\"\($0.rawValue)\"}", connections.refused[$0] ?? 0) }
        return Self.values(
            "clients_refused_total", "counter", "Connections and requests that were refused or cut off, by reason.", refused)
            + Self.values(
                "response_bytes_held", "gauge", "Bytes of answers that clients have not taken yet, each body once.",
                [("", memory.held)])
            + Self.values("response_bytes_limit", "gauge", "Bytes that these may have.", [("", memory.limit)])
    }

    private var stages: [String] {
        Self.histograms("stage_seconds", "Time that the stages of an image took.", "stage", pipeline.figures.stages)
    }

    private var work: [String] {
        let pool = pipeline.pool
        let waiting = Urgency.allCases.map { ("{lane=\"\($0)\"}", pool.waiting($0)) }
        return Self.values("render_queue", "gauge", "Renders that wait for a worker, by lane.", waiting)
            + Self.values("render_workers", "gauge", "Threads that render.", [("", workers)])
            + Self.values(
                "workers_stuck", "gauge", "Threads whose job is past its deadline and does not end, by lane.",
                [("{lane=\"render\"}", pool.stuck.render), ("{lane=\"examine\"}", pool.stuck.examine)])
            + Self.values(
                "refreshes_under_way", "gauge", "Stale images that are being made anew, and other work that nobody waits for.",
                [("", pipeline.background.underWay)])
            + Self.values(
                "refreshes_skipped_total", "counter", "Such work that was not begun because there was too much already.",
                [("", pipeline.background.skipped)])
            + Self.values(
                "render_memory_bytes", "gauge", "Bytes of originals under way and of pixels in the making.",
                [("", pool.memory.held)])
            + Self.values("render_memory_limit_bytes", "gauge", "Bytes that these may have.", [("", pool.memory.limit)])
            + Self.values(
                "process_resident_memory_bytes", "gauge", "Memory that the process occupies.",
                ProcessMemory.resident.map { [("", $0)] } ?? [])
    }

    private static func head(_ name: String, _ type: String, _ text: String) -> [String] {
        ["# HELP onesheet_\(name) \(text)", "# TYPE onesheet_\(name) \(type)"]
    }

    private static func values(_ name: String, _ type: String, _ text: String, _ values: [(String, Int)]) -> [String] {
        head(name, type, text) + values.map { "onesheet_\(name)\($0.0) \($0.1)" }
    }

    private static func histograms(_ name: String, _ text: String, _ label: String, _ histograms: Histograms) -> [String] {
        var lines = head(name, "histogram", text)
        for (value, histogram) in histograms.byName.sorted(by: { $0.key < $1.key }) {
            let labels = "\(label)=\"\(value)\""
            var count = 0
            // A bucket holds all that took less time, too.
            for (bound, more) in zip(Histogram.bounds.map { "\($0)" } + ["+Inf"], histogram.counts) {
                count += more
                lines.append("onesheet_\(name)_bucket{\(labels),le=\"\(bound)\"} \(count)")
            }
            lines += ["onesheet_\(name)_sum{\(labels)} \(histogram.sum)", "onesheet_\(name)_count{\(labels)} \(count)"]
        }
        return lines
    }
}

extension HTTPResponse.Status.Kind {
    /// As Prometheus users write it.
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
