import FoundationEssentials
import HTTPTypes
import Logging
import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import ServiceLifecycle

/// Adds a reading to the history of metrics every ten seconds.
struct MetricSampling: Service {
    let responder: ReloadableResponder
    let counters: ServerCounters

    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat { await addReading() } while await sleepUnlessCancelled(for: .seconds(MetricHistory.interval))
        }
    }

    func addReading() async {
        let context = responder.context
        let reading = await reading(context)
        var quotas: [MetricHistory.SourceQuotas] = []
        for (name, source) in context.sources {
            let reports = await source.quotas()
            if !reports.isEmpty { quotas.append(.init(source: name, quotas: reports)) }
        }
        do {
            try counters.history.add(reading, quotas, at: context.clock.now)
        } catch {
            context.logger.warning("a reading of the metrics cannot be stored: \(error)")
        }
    }

    private func reading(_ context: ServerContext) async -> MetricHistory.Reading {
        let (cache, pipeline) = (context.resources.cache, context.pipeline)
        // Tiers are left out if the disk hangs.
        let tiers = await withTimeoutAbandoning(.seconds(2)) { await cache.statistics() } ?? [:]
        var reading = MetricHistory.Reading()
        for (answer, count) in counters.answers {
            reading.counters["requests", default: 0] += Double(count)
            if answer.status == .serverError { reading.counters["failed", default: 0] += Double(count) }
        }
        for (tier, statistics) in tiers {
            let total = statistics.total
            reading.counters["hits.\(tier)"] = Double(total.hits)
            reading.counters["misses.\(tier)"] = Double(total.misses)
            reading.gauges["fill.\(tier)"] = statistics.fill
        }
        for (stage, histogram) in pipeline.metrics.stages.byName {
            // Milliseconds.
            reading.means["stage.\(stage)"] = (Double(histogram.counts.reduce(0, +)), histogram.sum * 1000)
        }
        reading.counters["renders"] = Double(pipeline.metrics.counts.renders)
        reading.gauges["queue"] = Double(Urgency.allCases.reduce(0) { $0 + pipeline.pool.waiting($1) })
        reading.gauges["connections"] = Double(counters.connections.count)
        if let memory = ProcessMemory.resident { reading.gauges["memory"] = Double(memory) }
        return reading
    }
}
