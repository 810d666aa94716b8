import NIOCore

/// Stops calls to an engine that does not answer. After a pause one call tries; if it fails, the pause begins again.
struct EngineBreaker {
    /// Failures in a row that begin a pause.
    static let failures = 5
    static let pause = TimeAmount.seconds(2)

    private var failures = 0
    private var pauseEnds: NIODeadline?
    private var isTrying = false

    /// Whether a call may be made at `now`. The caller reports its outcome.
    mutating func allows(at now: NIODeadline) -> Bool {
        guard let pauseEnds else { return true }
        guard now >= pauseEnds, !isTrying else { return false }
        isTrying = true
        return true
    }

    mutating func succeeded() { self = Self() }

    /// The outcome of a call is not known.
    mutating func abandoned() { isTrying = false }

    /// - Returns: whether a pause begins.
    mutating func failed(at now: NIODeadline) -> Bool {
        failures += 1
        guard failures >= Self.failures else { return false }
        // Calls that began before the pause do not prolong it.
        if let pauseEnds, now < pauseEnds, !isTrying { return false }
        (pauseEnds, isTrying) = (now + Self.pause, false)
        return true
    }
}
