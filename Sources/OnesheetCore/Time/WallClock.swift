public import FoundationEssentials

#if canImport(Glibc)
    internal import Glibc
#endif

/// The time of day, injected so that tests decide what time it is.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Date

    /// A clock that answers with what `read` returns.
    public init(_ read: @escaping @Sendable () -> Date) { self.read = read }

    /// The present moment.
    public var now: Date { read() }

    /// The clock of this machine, as it stood at the system's last tick, a few milliseconds ago: every request reads it, and to ask for
    /// the very moment takes several times as long (clock_gettime(2), CLOCK_REALTIME_COARSE).
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
