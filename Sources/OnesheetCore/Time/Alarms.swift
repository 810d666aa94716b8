internal import NIOCore
internal import NIOPosix
import Synchronization

/// Ends waits that take too long. Most alarms are cancelled before they go off, so setting and cancelling one wakes no thread: a few
/// timers go off at the earliest alarms and then look again.
///
/// The timers are those of event loops, which never block. Tasks can occupy the whole cooperative pool, and alarms end such tasks.
package final class Alarms: Sendable {
    /// Identifies an alarm to `cancel`.
    package struct ID: Hashable, Sendable { fileprivate let number: Int }

    private typealias Instant = ContinuousClock.Instant

    private struct State {
        var alarms: [ID: (moment: Instant, action: @Sendable () -> Void)] = [:]
        var lastNumber = 0
        /// When the timers go off.
        var timers: [Int: Instant] = [:]
    }

    package static let shared = Alarms()

    private let state = Mutex(State())

    /// Calls `action` after `duration`, unless the alarm is cancelled. `action` must be short, because it runs on an event loop.
    package func set(in duration: Duration, _ action: @escaping @Sendable () -> Void) -> ID {
        let moment = ContinuousClock.now + max(duration, .zero)
        let (id, needsTimer) = state.withLock { state in
            state.lastNumber += 1
            let id = ID(number: state.lastNumber)
            state.alarms[id] = (moment, action)
            return (id, Self.note(moment, of: id.number, in: &state))
        }
        if needsTimer { start(id.number, at: moment) }
        return id
    }

    package func cancel(_ id: ID) {
        // Objects that the action holds are released outside of the lock.
        _ = state.withLock { $0.alarms.removeValue(forKey: id) }
    }

    /// - Returns: whether a timer has to go off at `moment`, because none does before.
    private static func note(_ moment: Instant, of timer: Int, in state: inout State) -> Bool {
        guard state.timers.values.allSatisfy({ moment < $0 }) else { return false }
        state.timers[timer] = moment
        return true
    }

    /// Alarms limit outside parties, so they go off in real time.
    private func start(_ timer: Int, at moment: Instant) {
        NIOSingletons.posixEventLoopGroup.any().scheduleTask(in: TimeAmount(moment - .now)) { [self] in goOff(timer) }
    }

    private func goOff(_ timer: Int) {
        let (due, next) = state.withLock { state in
            state.timers[timer] = nil
            let now = ContinuousClock.now
            let due = state.alarms.filter { $0.value.moment <= now }
            for id in due.keys { state.alarms[id] = nil }
            let next = state.alarms.values.lazy.map(\.moment).min().flatMap {
                Self.note($0, of: timer, in: &state) ? $0 : nil
            }
            return (due.values.sorted { $0.moment < $1.moment }.map(\.action), next)
        }
        for action in due { action() }
        if let next { start(timer, at: next) }
    }
}
