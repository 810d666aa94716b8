import Hummingbird
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// `/health`: the process answers.
struct HealthRoute: Route {
    let prefix = "/health"
    func answer(_ rest: Substring, _ request: Request) async throws -> Response { .text("ok\n") }
}

/// `/ready`: requests are welcome.
struct ReadyRoute: Route {
    let prefix = "/ready"
    func answer(_ rest: Substring, _ request: Request) async throws -> Response { .text("ready\n") }
}

/// `/3/configuration`: the size ladder, in the shape that apps made for TMDB read.
struct LadderRoute: Route {
    let prefix = "/3/configuration"
    let installation: Installation

    private struct Document: Encodable {
        struct Images: Encodable {
            let baseURL: String
            let secureBaseURL: String
            let posterSizes: [String]

            enum CodingKeys: String, CodingKey {
                case baseURL = "base_url"
                case secureBaseURL = "secure_base_url"
                case posterSizes = "poster_sizes"
            }
        }
        let images: Images
    }

    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        let host = request.head.authority ?? installation.configuration.listen.description
        return .json(
            Document(
                images: .init(
                    baseURL: "http://\(host)/t/p/", secureBaseURL: "https://\(host)/t/p/", posterSizes: SizeLadder.names)))
    }
}

/// `/metrics`: figures in Prometheus' text format 0.0.4.
struct MetricsRoute: Route {
    let prefix = "/metrics"
    let installation: Installation

    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        var lines: [String] = []
        func add(_ name: String, _ type: String, _ text: String, _ values: [(String, Int)]) {
            lines += ["# HELP onesheet_\(name) \(text)", "# TYPE onesheet_\(name) \(type)"]
            lines += values.map { "onesheet_\(name)\($0.0) \($0.1)" }
        }
        let tiers = await installation.cache.statistics()
        func each(_ value: (CacheStatistics) -> Int) -> [(String, Int)] {
            tiers.sorted { $0.key < $1.key }.map { ("{tier=\"\($0.key)\"}", value($0.value)) }
        }
        let byReason = tiers.sorted { $0.key < $1.key }.flatMap { tier, figures in
            figures.evictions.sorted { $0.key < $1.key }.map { ("{tier=\"\(tier)\",reason=\"\($0.key)\"}", $0.value) }
        }
        add("cache_hits_total", "counter", "Look-ups that found an entry.", each(\.hits))
        add("cache_misses_total", "counter", "Look-ups that found none.", each(\.misses))
        add("cache_stores_total", "counter", "Entries stored.", each(\.stores))
        add("cache_damaged_total", "counter", "Entries found damaged and not served.", each(\.damaged))
        add("cache_evictions_total", "counter", "Entries that the tier removed by itself or refused, by reason.", byReason)
        add(
            "cache_failures_total", "counter", "Operations that a tier failed to do, so that it was passed by.",
            installation.cache.failures.sorted { $0.key < $1.key }.map { ("{tier=\"\($0.key)\"}", $0.value) })
        add("cache_entries", "gauge", "Entries there now.", each(\.entries))
        add("cache_bytes", "gauge", "Bytes there now.", each(\.bytes))
        add("cache_limit_bytes", "gauge", "Bytes that there may be.", each(\.byteLimit))
        add("renders_total", "counter", "Variants made.", [("", installation.pipeline.figures.counts.renders)])
        add("render_jobs", "gauge", "Renders at work and waiting.", [("", installation.pipeline.pool.load)])
        return .text(lines.joined(separator: "\n") + "\n", type: "text/plain; version=0.0.4; charset=utf-8")
    }
}
