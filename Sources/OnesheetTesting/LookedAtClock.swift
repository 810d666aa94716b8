public import OnesheetCore
internal import Synchronization

/// A clock on which time passes only by its being looked at: it counts what would otherwise have to be measured.
public final class LookedAtClock: Sendable {
    private let start = ContinuousClock.now
    private let count = Mutex(0)

    public init() {}

    /// How often it has been looked at.
    public var looks: Int { count.withLock { $0 } }

    /// The time: a second later at each look.
    public func now() -> ContinuousClock.Instant {
        start.advanced(
            by: .seconds(
                count.withLock { count in
                    defer { count += 1 }
                    return count
                }))
    }

    /// A deadline that has passed once the clock has been looked at so often.
    public func deadline(after looks: Int) -> Deadline {
        Deadline(start.advanced(by: .seconds(min(looks, 1_000_000_000)))) { self.now() }
    }
}
