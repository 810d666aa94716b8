import OnesheetCore
import Synchronization

/// How long the parts of an end may take. All of it fits into a `shutdown.deadline` from two seconds up, whatever hangs: requests have
/// most of it, and ending what served them and the threads below has the rest. A shorter one is exceeded by half a second at the most.
final class ShutdownTimes: Sendable {
    private let deadline: Duration
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    init(_ configuration: ShutdownConfiguration) { deadline = configuration.deadline.duration }

    /// For requests under way.
    var forRequests: Duration { deadline - rest }

    /// For each of the two parts that come after. A quarter of a second is the least in which a disk is
    /// let go of.
    var grace: Duration { max(rest / 2, .milliseconds(250)) }

    /// What is left for the last part.
    var left: Duration { max(grace, end.withLock { $0.map { $0 - .now } ?? deadline }) }

    private var rest: Duration { min(.seconds(1), deadline / 4) }

    /// The deadline counts from now on.
    func begin() { end.withLock { $0 = .now + deadline } }
}
