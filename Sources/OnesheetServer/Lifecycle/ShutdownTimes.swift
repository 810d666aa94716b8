import OnesheetCore
import Synchronization

/// Divides `shutdown.deadline` among the phases of a shutdown. Requests get most of it; connections, services and threads share the
/// rest. A deadline of two seconds or more always holds, even if something hangs. A shorter one can be exceeded by up to half a second.
final class ShutdownTimes: Sendable {
    private let deadline: Duration
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    init(_ configuration: ShutdownConfiguration) { deadline = configuration.deadline.duration }

    /// The time for requests in progress.
    var forRequests: Duration { deadline - rest }

    /// The time for each of the two phases after the requests. The disk tier needs at least 250 ms to close.
    var grace: Duration { max(rest / 2, .milliseconds(250)) }

    /// The time left for the last phase.
    var left: Duration { max(grace, end.withLock { $0.map { $0 - .now } ?? deadline }) }

    private var rest: Duration { min(.seconds(1), deadline / 4) }

    /// Starts the deadline.
    func begin() { end.withLock { $0 = .now + deadline } }
}
