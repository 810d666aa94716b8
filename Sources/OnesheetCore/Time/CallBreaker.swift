/// Stops calls to a part that fails. After a pause one call tries; if it fails, the pause begins again.
///
/// Every call that `allows(at:)` admits reports its outcome.
package struct CallBreaker: Sendable {
    private let threshold: Int
    private let pause: Duration
    private var failures = 0
    private var pauseEnds: ContinuousClock.Instant?
    private var isTrying = false

    /// - Parameter failures: the failures in a row that begin a pause.
    package init(failures: Int, pause: Duration) {
        threshold = failures
        self.pause = pause
    }

    /// Whether the part fails: a pause has begun, and no call has succeeded since.
    package var isOpen: Bool { pauseEnds != nil }

    /// Whether calls are stopped at `now`. Unlike `allows(at:)`, admits no call as the one that tries.
    package func isPausing(at now: ContinuousClock.Instant) -> Bool { pauseEnds.map { now < $0 } ?? false }

    /// Whether a call may be made at `now`.
    package mutating func allows(at now: ContinuousClock.Instant) -> Bool {
        guard isOpen else { return true }
        guard !isPausing(at: now), !isTrying else { return false }
        isTrying = true
        return true
    }

    package mutating func succeeded() { (failures, pauseEnds, isTrying) = (0, nil, false) }

    /// The outcome of a call is not known.
    package mutating func abandoned() { isTrying = false }

    /// - Returns: whether a pause begins.
    @discardableResult
    package mutating func failed(at now: ContinuousClock.Instant) -> Bool {
        failures += 1
        guard failures >= threshold else { return false }
        // A call that began before the pause and ends within it does not prolong it.
        if isPausing(at: now) { return false }
        (pauseEnds, isTrying) = (now + pause, false)
        return true
    }
}
