import Logging
import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import OnesheetTransport
import ServiceLifecycle

extension PrefetchSchedule {
    /// The schedule of a server.
    /// - Parameter context: the configuration in effect. Evaluated on each use.
    init(context: @escaping @autoclosure @Sendable () -> ServerContext) {
        let resources = context().resources
        self.init(
            ledger: PrefetchLedger(resources.state, resources.prefetchJobs),
            turns: ScheduleTurns(resources.cluster, logger: resources.logger),
            clock: resources.clock, logger: resources.logger
        ) {
            let current = context()
            return Plan(lines: current.configuration.prefetch, options: current.options, prefetcher: current.prefetcher)
        }
    }
}
