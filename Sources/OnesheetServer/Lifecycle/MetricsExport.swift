import Metrics
import OnesheetCore
import ServiceLifecycle

/// Passes the server's metrics to the backend of the program that embeds it (swift-metrics), every ten seconds and when it stops. Names
/// and labels are those of `/metrics`; a histogram is its counters, with the label `le`.
struct MetricsExport: Service {
    let responder: ReloadableResponder
    let counters: ServerCounters
    private let forwarder: MetricsForwarder

    /// - Returns: `nil` if the program has no backend.
    init?(responder: ReloadableResponder, counters: ServerCounters, to factory: any MetricsFactory = MetricsSystem.factory) {
        if factory is NOOPMetricsHandler { return nil }
        self.responder = responder
        self.counters = counters
        forwarder = MetricsForwarder(factory)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while await sleepUnlessCancelled(for: .seconds(10)) { await pass() }
        }
        await pass()
    }

    private func pass() async { await forwarder.pass(MetricsReading(responder.context, counters: counters).metrics()) }
}
