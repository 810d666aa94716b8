public import FoundationEssentials

/// The time of day, injected so that tests decide what time it is.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Date

    /// A clock that answers with what `read` returns.
    public init(_ read: @escaping @Sendable () -> Date) { self.read = read }

    /// The present moment.
    public var now: Date { read() }

    /// The clock of this machine.
    public static let system = WallClock { Date() }
}
