import Logging
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// The work that a server shares with others through a coordinator.
struct Coordination: Sendable {
    private let coordinator: any Coordinator
    /// The purges of all servers. The cache announces its own there.
    let purges: PurgeLog
    /// Lets the servers fetch an original once.
    let leases: FlightLeases
    /// Lets the servers run a line of the prefetch schedule once.
    let turns: ScheduleTurns

    /// How long a start waits for the purges that were missed.
    static let longestCatchUp = Duration.seconds(2)
    /// How long the first start of a server waits for the decisions in the store.
    static let longestReading = Duration.seconds(5)

    /// - Parameter coordinator: ends each call in time.
    init(_ coordinator: any Coordinator, state: StateStore, logger: Logger) {
        self.coordinator = coordinator
        purges = PurgeLog(coordinator, state: state.part("purges"), logger: logger)
        leases = FlightLeases(coordinator, holder: purges.process, logger: logger)
        turns = ScheduleTurns(coordinator: coordinator, holder: purges.process, logger: logger)
    }

    /// The counters of the plugin with this name.
    func counters(_ name: String) -> SharedCounters { SharedCounters(coordinator, prefix: "\(name)/") }
}
