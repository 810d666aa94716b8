public import FoundationEssentials
public import OnesheetCore
internal import Synchronization

/// A clock that stands still until a test advances it.
public final class ManualClock: Sendable {
    private let time: Mutex<Date>

    /// - Parameter start: 2026-11-21 12:00 UTC by default.
    public init(_ start: Date = Date(timeIntervalSince1970: 1_795_262_400)) { time = Mutex(start) }

    public var now: Date {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    /// Advances the clock; a negative `duration` sets it back.
    public func advance(by duration: Duration) { time.withLock { $0 += duration / .seconds(1) } }

    /// The clock for a plugin.
    public var wallClock: WallClock { WallClock { self.now } }
}
