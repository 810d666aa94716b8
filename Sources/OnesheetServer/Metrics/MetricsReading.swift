import OnesheetCache
import OnesheetCluster
import OnesheetCore
import OnesheetIsolation
import OnesheetPipeline

/// Reads all metrics of a server.
struct MetricsReading: Sendable {
    let cache: Cache
    let pipeline: Pipeline
    let watches: [(name: String, watch: SourceWatch)]
    let counters: ServerCounters
    let cluster: ServerCluster?
    let decisions: SharedDecisions?
    let renderThreads: Int
    let lost: LostProcesses
    let clock: WallClock
    let web: WebTransport

    init(_ context: ServerContext, counters: ServerCounters) {
        cache = context.resources.cache
        pipeline = context.pipeline
        watches = context.watches
        cluster = context.resources.cluster
        decisions = context.resources.decisions
        clock = context.clock
        renderThreads = context.configuration.limits.limits.workers
        lost = context.resources.lostProcesses
        self.counters = counters
        web = context.resources.web
    }

    func metrics() async -> MetricList {
        // Skip the disk tier if it hangs: metrics are needed most when something hangs.
        var tiers = await withTimeoutAbandoning(.seconds(2)) { await cache.statistics() } ?? [:]
        if tiers.isEmpty { tiers[cache.memory.name] = await cache.memory.statistics() }
        var list = MetricList()
        CacheMetrics(tiers: tiers, failures: cache.failures, now: clock.now).write(to: &list)
        if let shared = cluster?.shared {
            SharedMetrics(metrics: shared.metrics, unreadDecisions: decisions?.unread ?? 0).write(to: &list)
        }
        ServerMetrics(counters: counters, pipeline: pipeline, renderThreads: renderThreads, lost: lost).write(to: &list)
        SourceMetrics(watches: watches, troubledHosts: web.troubledHosts).write(to: &list)
        if let purges = cluster?.purges, let leases = cluster?.leases {
            CoordinationMetrics(purges: purges.metrics, leases: leases.counts).write(to: &list)
        }
        return list
    }
}
