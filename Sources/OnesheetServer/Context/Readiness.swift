import OnesheetHTTP
import Synchronization

/// Whether the server accepts requests.
final class Readiness: Sendable {
    enum State {
        /// The server does not accept connections yet.
        case starting
        case ready
        /// The server shuts down.
        case draining
    }

    private let current = Mutex(State.starting)

    var state: State { current.withLock { $0 } }

    /// - Throws: `Problem.notReady` unless the state is `ready`.
    func check() throws(Problem) {
        guard state == .ready else { throw .notReady }
    }

    /// Marks the server as ready.
    func begin() {
        current.withLock { if $0 == .starting { $0 = .ready } }
    }

    /// Marks the server as shutting down.
    /// - Returns: whether the state has changed.
    func end() -> Bool {
        current.withLock { state in
            defer { state = .draining }
            return state != .draining
        }
    }
}
