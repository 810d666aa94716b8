package import OnesheetCore
import Synchronization

/// The limits of one source for shared resources. They hold whatever its plugin does.
package struct SourceLimits: Sendable, Equatable {
    /// For one call of the plugin, including its requests to its service, but not the time that these wait for their turn.
    package var time = Duration.seconds(60)
    /// Concurrent calls. A further one waits if its client has fewer of them than another client, and is refused otherwise.
    package var calls = 256
    /// Bytes of a response or picture; `nil` uses `Limits.originBytes`.
    package var bytes: Int?

    package init() {}

    /// The policy with the response size capped by these limits.
    package func applied(to policy: OriginPolicy) -> OriginPolicy {
        guard let bytes else { return policy }
        var policy = policy
        policy.maxBytes = min(policy.maxBytes ?? bytes, bytes)
        return policy
    }
}

/// One call of a plugin: the memory of the responses that it fetches, and the time that it waits in lines of this server.
///
/// The memory is released when the call ends, even if the call was abandoned.
final class SourceCall: Sendable {
    @TaskLocal static var current: SourceCall?

    private struct State {
        var holds: [MemoryReservation] = []
        /// Requests of the call that wait, and the beginning of the first one's wait.
        var waiting = 0
        var since = ContinuousClock.now
        var waited = Duration.zero
    }

    private let state = Mutex(State())

    func keep(_ reservation: MemoryReservation) { state.withLock { $0.holds.append(reservation) } }

    /// Records that a request of the call begins to wait in a line of this server.
    func wait() {
        state.withLock { state in
            if state.waiting == 0 { state.since = .now }
            state.waiting += 1
        }
    }

    /// Records the end of such a wait.
    func goOn() {
        state.withLock { state in
            state.waiting -= 1
            if state.waiting == 0 { state.waited += .now - state.since }
        }
    }

    /// The time in which at least one request of the call waited in a line of this server.
    var waited: Duration { state.withLock { $0.waited + ($0.waiting > 0 ? .now - $0.since : .zero) } }
}
