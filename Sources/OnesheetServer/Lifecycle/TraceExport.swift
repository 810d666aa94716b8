import OnesheetCore
import OnesheetTransport
import ServiceLifecycle

/// Sends spans to the collector every second.
struct TraceExport: Service {
    let collector: CollectorTracer

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while await sleepUnlessCancelled(for: .seconds(1)) { await collector.send() }
        }
    }
}
