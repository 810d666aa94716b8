/// The deadline for the work on one picture: one instant for decoding, resampling and encoding together.
///
/// Codecs check it at least once for some ten thousand samples, and throw `CodecError.timedOut` when it has passed.
public struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant?
    private let now: @Sendable () -> ContinuousClock.Instant

    /// No deadline.
    public static let never = Deadline(nil) { ContinuousClock.now }

    /// - Parameter now: returns the present time.
    public init(
        _ instant: ContinuousClock.Instant, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.init(Optional(instant), now)
    }

    private init(_ instant: ContinuousClock.Instant?, _ now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.instant = instant
        self.now = now
    }

    /// Whether the deadline has passed.
    public var hasPassed: Bool {
        guard let instant else { return false }
        return now() >= instant
    }

    /// - Throws: `CodecError.timedOut` if the deadline has passed.
    public func check() throws(CodecError) {
        if hasPassed { throw .timedOut }
    }
}

extension Deadline: Equatable {
    /// Whether both are the same instant, regardless of their clocks.
    public static func == (left: Self, right: Self) -> Bool { left.instant == right.instant }
}

/// Checks a deadline once for each batch of work. A check costs as much as a few hundred samples.
public struct DeadlineWatch: Sendable {
    /// The samples of a batch.
    public static let batch = 1 << 16
    /// The overhead of a row, in samples.
    private static let row = 64

    public let deadline: Deadline
    private var done = 0

    public init(_ deadline: Deadline) { self.deadline = deadline }

    /// Counts a row of `samples` samples.
    /// - Throws: `CodecError.timedOut` if a batch is complete and the deadline has passed.
    public mutating func row(samples: Int) throws(CodecError) {
        done += samples + Self.row
        guard done >= Self.batch else { return }
        done = 0
        try deadline.check()
    }
}
