public import OnesheetCore
internal import Synchronization

/// A clock that advances only when it is read, so that tests count reads instead of measuring time.
public final class LookedAtClock: Sendable {
    private let start = ContinuousClock.now
    private let count = Mutex(0)

    public init() {}

    /// The number of reads.
    public var looks: Int { count.withLock { $0 } }

    /// The time, which advances by a second with each read.
    public func now() -> ContinuousClock.Instant {
        start.advanced(
            by: .seconds(
                count.withLock { count in
                    defer { count += 1 }
                    return count
                }))
    }

    /// A deadline that has passed after this many reads.
    public func deadline(after looks: Int) -> Deadline {
        Deadline(start.advanced(by: .seconds(min(looks, 1_000_000_000)))) { self.now() }
    }
}
