import Synchronization

/// One call of a plugin: the memory of the responses that it fetches, and the time that it waits in lines of this server.
///
/// The memory is released when the call ends, even if the call was abandoned.
package final class SourceCall: Sendable {
    private struct State {
        var holds: [MemoryReservation] = []
        /// Requests of the call that wait, and the beginning of the first one's wait.
        var waiting = 0
        var since = ContinuousClock.now
        var waited = Duration.zero
    }

    private let state = Mutex(State())

    package init() {}

    package func keep(_ reservation: MemoryReservation) { state.withLock { $0.holds.append(reservation) } }

    /// Records that a request of the call begins to wait in a line of this server.
    package func wait() {
        state.withLock { state in
            if state.waiting == 0 { state.since = .now }
            state.waiting += 1
        }
    }

    /// Records the end of such a wait.
    package func goOn() {
        state.withLock { state in
            state.waiting -= 1
            if state.waiting == 0 { state.waited += .now - state.since }
        }
    }

    /// The time in which at least one request of the call waited in a line of this server.
    package var waited: Duration { state.withLock { $0.waited + ($0.waiting > 0 ? .now - $0.since : .zero) } }
}
