import Synchronization

/// When work left its line and began, so that a limit can leave out the wait: the work did not cause it.
package final class Beginning: Sendable {
    private let moment = Mutex<ContinuousClock.Instant?>(nil)

    package init() {}

    package func note() { moment.withLock { $0 = $0 ?? .now } }

    package var isNoted: Bool { moment.withLock { $0 != nil } }

    /// The wait from `start` until the work began; zero if it has not.
    package func wait(since start: ContinuousClock.Instant) -> Duration {
        moment.withLock { $0.map { max(.zero, $0 - start) } ?? .zero }
    }
}
