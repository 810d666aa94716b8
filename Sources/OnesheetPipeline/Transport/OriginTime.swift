import NIOCore
import OnesheetCore
import Synchronization

/// The time of one request, for all of its attempts and redirects. Waits in a line of this server do not count, and have a limit of their
/// own: otherwise a host would be blamed for them.
final class OriginTime: Sendable {
    private let state: Mutex<(deadline: NIODeadline, wait: Duration)>

    init(_ time: Duration) {
        // One day stands for ever, and can be added to any time.
        let time = TimeAmount.nanoseconds(Int64(min(time / .nanoseconds(1), 86_400e9)))
        state = Mutex((.now() + time, SlotRules.longestWait))
    }

    /// The end of the exchanges, as long as nothing waits.
    var deadline: NIODeadline { state.withLock { $0.deadline } }

    var isOver: Bool { deadline <= .now() }

    /// The longest wait that is left.
    var longestWait: Duration { state.withLock { $0.wait } }

    /// Records a wait that is over.
    func waited(_ duration: Duration) {
        state.withLock { state in
            state.deadline = state.deadline + TimeAmount(duration)
            state.wait = max(.zero, state.wait - duration)
        }
    }
}
