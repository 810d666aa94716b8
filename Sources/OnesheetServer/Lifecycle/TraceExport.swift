import Logging
import OnesheetCore
import OnesheetTransport
import ServiceLifecycle

/// Sends spans to the collector every second, and says once when it stops taking them.
struct TraceExport: Service {
    let collector: CollectorTracer
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var isFailing = false
            while await sleepUnlessCancelled(for: .seconds(1)) {
                switch await collector.send() {
                case nil: continue
                case .success:
                    if isFailing { logger.notice("the collector of traces takes spans again") }
                    isFailing = false
                case .failure(let reason):
                    if !isFailing {
                        logger.warning(
                            "the collector of traces takes no spans, which are dropped and counted (configuration: tracing.endpoint)",
                            metadata: ["reason": "\(reason)"])
                    }
                    isFailing = true
                }
            }
        }
    }
}
