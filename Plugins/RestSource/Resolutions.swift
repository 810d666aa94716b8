internal import FoundationEssentials
internal import OnesheetCore
internal import Synchronization

/// What ids of other databases mean here, for a day; also that they mean nothing.
final class Resolutions: Sendable {
    struct Known: Sendable {
        /// The source's own id; `nil` if it has none.
        let own: String?
        fileprivate let since: Date
    }

    /// The number of ids that are remembered. Visitors choose them.
    private static let capacity = 4096
    private static let seconds = 86_400.0

    private let state = Mutex<[ExactText: Known]>([:])

    /// The known meaning of `id`; `nil` if the service has to be asked.
    func known(_ id: String, at now: Date) -> Known? {
        state.withLock { state in state[ExactText(id)].flatMap { Self.isCurrent($0, now) ? $0 : nil } }
    }

    func remember(_ own: String?, for id: String, at now: Date) {
        state.withLock { state in
            if state.count >= Self.capacity { state = state.filter { Self.isCurrent($0.value, now) } }
            if state.count >= Self.capacity { state = [:] }
            state[ExactText(id)] = Known(own: own, since: now)
        }
    }

    private static func isCurrent(_ known: Known, _ now: Date) -> Bool {
        (0..<seconds).contains(now.timeIntervalSince(known.since))
    }
}
