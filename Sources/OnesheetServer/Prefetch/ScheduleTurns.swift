import Logging
import OnesheetCluster
import OnesheetCore
import OnesheetPipeline

/// Lets several servers with the same schedule run each line once.
///
/// The server that holds a due line's lease runs it. If that server dies, its lease ends and another one runs the line. Without the
/// coordinator, every server runs its lines itself: the second one finds most variants made.
struct ScheduleTurns: Sendable {
    private let coordinator: any Coordinator
    /// This process.
    private let holder: String
    private let logger: Logger

    init(coordinator: any Coordinator, holder: String, logger: Logger) {
        self.coordinator = coordinator
        self.holder = holder
        self.logger = logger
    }

    /// The turns of a server; `nil` if its cluster has no coordinator.
    init?(_ cluster: ServerCluster?, logger: Logger) {
        guard let coordinator = cluster?.coordinator, let purges = cluster?.purges else { return nil }
        self.init(coordinator: coordinator, holder: purges.process, logger: logger)
    }

    /// The server whose turn it is.
    enum Turn: Sendable {
        /// This server runs the line; `finish` follows.
        case here(Lease?, renewal: Task<Void, Never>?)
        /// Another server runs it at present.
        case elsewhere
        /// A server has run it.
        case done
    }

    /// The lifetime of the lease in milliseconds.
    private static let lifetime = 60_000
    /// How long a completed run is remembered: longer than any server may be away.
    private static let memory = 31 * 86_400_000

    /// Asks for the turn to run a line.
    /// - Parameter due: the time at which it was due, in seconds since 1970.
    func turn(_ name: String, due: Int) async -> Turn {
        let lease = Lease(name: "prefetch:\(name):\(due)", holder: holder, coordinator: coordinator, lifetime: Self.lifetime)
        do throws(CoordinatorError) {
            guard case .granted(_, let isDone) = try await lease.acquire() else { return .elsewhere }
            if isDone {
                await give(lease)
                return .done
            }
            return .here(lease, renewal: lease.renewal())
        } catch {
            logger.warning("a line of the schedule is run without asking other servers: \(error)", metadata: ["line": "\(name)"])
            return .here(nil, renewal: nil)
        }
    }

    /// Ends a turn.
    /// - Parameter isDone: whether the line was run. If not, another server may try.
    func finish(_ turn: Turn, isDone: Bool) async {
        guard case .here(let lease?, renewal: let renewal) = turn else { return }
        await give(lease, doneFor: isDone ? Self.memory : 0)
        renewal?.cancel()
    }

    private func give(_ lease: Lease, doneFor milliseconds: Int = 0) async {
        do throws(CoordinatorError) {
            try await lease.release(doneFor: milliseconds)
        } catch {
            logger.warning("cannot release the lease of a schedule line: \(error)")
        }
    }
}
