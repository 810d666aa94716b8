import Synchronization

/// Ends waits that take too long. Most alarms are cancelled before they go off, so setting and cancelling one wakes no thread: a few
/// tasks sleep until the earliest alarms and then look again.
package final class Alarms: Sendable {
    /// Identifies an alarm to `cancel`.
    package struct ID: Hashable, Sendable { fileprivate let number: Int }

    private typealias Instant = ContinuousClock.Instant

    private struct State {
        var alarms: [ID: (moment: Instant, action: @Sendable () -> Void)] = [:]
        var lastNumber = 0
        /// When the sleeping tasks wake up.
        var wakings: [Int: Instant] = [:]
    }

    package static let shared = Alarms()

    private let state = Mutex(State())

    /// Calls `action` after `duration`, unless the alarm is cancelled. `action` must be short.
    package func set(in duration: Duration, _ action: @escaping @Sendable () -> Void) -> ID {
        let moment = ContinuousClock.now + max(duration, .zero)
        let (id, needsSleeper) = state.withLock { state in
            state.lastNumber += 1
            let id = ID(number: state.lastNumber)
            state.alarms[id] = (moment, action)
            return (id, Self.note(moment, of: id.number, in: &state))
        }
        if needsSleeper { Task.detached { [self] in await sleep(as: id.number, until: moment) } }
        return id
    }

    package func cancel(_ id: ID) {
        // Objects that the action holds are released outside of the lock.
        _ = state.withLock { $0.alarms.removeValue(forKey: id) }
    }

    /// - Returns: whether a task has to sleep until `moment`, because none wakes up before.
    private static func note(_ moment: Instant, of sleeper: Int, in state: inout State) -> Bool {
        guard state.wakings.values.allSatisfy({ moment < $0 }) else { return false }
        state.wakings[sleeper] = moment
        return true
    }

    private func sleep(as sleeper: Int, until moment: Instant) async {
        var next: Instant? = moment
        while let moment = next {
            // Alarms limit outside parties, so they go off in real time. This task is never cancelled.
            do { try await Task.sleep(until: moment) } catch { return }
            let due = state.withLock { state in
                state.wakings[sleeper] = nil
                let now = ContinuousClock.now
                let due = state.alarms.filter { $0.value.moment <= now }
                for id in due.keys { state.alarms[id] = nil }
                next = state.alarms.values.lazy.map(\.moment).min().flatMap {
                    Self.note($0, of: sleeper, in: &state) ? $0 : nil
                }
                return due.values.sorted { $0.moment < $1.moment }.map(\.action)
            }
            for action in due { action() }
        }
    }
}
