import OnesheetHTTP
import Synchronization

/// Whether requests are welcome.
final class Readiness: Sendable {
    enum State {
        /// Not yet: connections are not accepted yet.
        case starting
        case ready
        /// Not any more: the server is about to end.
        case draining
    }

    private let current = Mutex(State.starting)

    var state: State { current.withLock { $0 } }

    /// - Throws: unless requests are welcome.
    func check() throws(Problem) {
        guard state == .ready else { throw .notReady }
    }

    /// The server accepts connections.
    func begin() {
        current.withLock { if $0 == .starting { $0 = .ready } }
    }

    /// The server is about to end.
    /// - Returns: whether that is news.
    func end() -> Bool {
        current.withLock { state in
            defer { state = .draining }
            return state != .draining
        }
    }
}
