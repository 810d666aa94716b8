public import FoundationEssentials

#if canImport(Glibc)
    internal import Glibc
#endif

/// The time of day, injected so that tests control it.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Date

    /// A clock that returns the result of `read`.
    public init(_ read: @escaping @Sendable () -> Date) { self.read = read }

    /// The present time.
    public var now: Date { read() }

    /// The system clock with the resolution of a tick, a few milliseconds. Every request reads it, and the exact time takes several
    /// times as long (clock_gettime(2), CLOCK_REALTIME_COARSE).
    public static let system = WallClock {
        #if canImport(Glibc)
            var time = timespec()
            if clock_gettime(CLOCK_REALTIME_COARSE, &time) == 0 {
                return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
            }
        #endif
        return Date()
    }
}
