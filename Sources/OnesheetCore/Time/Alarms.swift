internal import NIOCore
internal import NIOPosix
import Synchronization

/// Ends waits that take too long. Most alarms are cancelled before they go off, so setting and cancelling one wakes no thread: a few
/// timers go off at the earliest alarms and then look again.
///
/// The timers are those of event loops, which never block. Tasks can occupy the whole cooperative pool, and alarms end such tasks.
package final class Alarms: Sendable {
    /// Identifies an alarm to `cancel`.
    package struct ID: Sendable {
        fileprivate let moment: Instant
        fileprivate let number: Int

        /// Whether it goes off before `other`.
        fileprivate func precedes(_ other: ID) -> Bool { (moment, number) < (other.moment, other.number) }
    }

    fileprivate typealias Instant = ContinuousClock.Instant

    private struct State {
        /// In the order in which they go off. Most are set for later than the others, and cancelled soon: at the end, where that is cheap.
        var alarms: [(id: ID, action: @Sendable () -> Void)] = []
        var lastNumber = 0
        /// When the timers go off.
        var timers: [Int: Instant] = [:]

        /// The position of the alarm, or of the one that would follow it.
        func position(of id: ID) -> Int {
            var range = alarms.indices
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                range = alarms[middle].id.precedes(id) ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            return range.lowerBound
        }
    }

    package static let shared = Alarms()

    private let state = Mutex(State())

    /// Calls `action` after `duration`, unless the alarm is cancelled. `action` must be short, because it runs on an event loop.
    package func set(in duration: Duration, _ action: @escaping @Sendable () -> Void) -> ID {
        let moment = ContinuousClock.now + max(duration, .zero)
        let (id, needsTimer) = state.withLock { state in
            state.lastNumber += 1
            let id = ID(moment: moment, number: state.lastNumber)
            state.alarms.insert((id, action), at: state.position(of: id))
            return (id, Self.note(moment, of: id.number, in: &state))
        }
        if needsTimer { start(id.number, at: moment) }
        return id
    }

    package func cancel(_ id: ID) {
        // Objects that the action holds are released outside of the lock.
        _ = state.withLock { state in
            let position = state.position(of: id)
            let isSet = position < state.alarms.count && state.alarms[position].id.number == id.number
            return isSet ? state.alarms.remove(at: position).action : nil
        }
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
            let due = state.alarms.prefix { $0.id.moment <= now }.map(\.action)
            state.alarms.removeFirst(due.count)
            let next = state.alarms.first?.id.moment
            return (due, next.flatMap { Self.note($0, of: timer, in: &state) ? $0 : nil })
        }
        for action in due { action() }
        if let next { start(timer, at: next) }
    }
}
