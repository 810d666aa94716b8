/// When the work on one picture has to be done: one instant for decoding, resampling and encoding together.
///
/// Codecs look at it now and then, at least once for some ten thousand samples, and throw `CodecError.timedOut` when it has passed.
public struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant?
    private let now: @Sendable () -> ContinuousClock.Instant

    /// There is all the time in the world.
    public static let never = Deadline(nil) { ContinuousClock.now }

    /// - Parameter now: tells the time.
    public init(
        _ instant: ContinuousClock.Instant, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.init(Optional(instant), now)
    }

    private init(_ instant: ContinuousClock.Instant?, _ now: @escaping @Sendable () -> ContinuousClock.Instant) {
        (self.instant, self.now) = (instant, now)
    }

    /// Whether there is no time left.
    public var hasPassed: Bool {
        guard let instant else { return false }
        return now() >= instant
    }

    /// - Throws: `CodecError.timedOut` if there is no time left.
    public func check() throws(CodecError) {
        if hasPassed { throw .timedOut }
    }
}

extension Deadline: Equatable {
    /// Whether both are the same instant, by whatever clock.
    public static func == (left: Self, right: Self) -> Bool { left.instant == right.instant }
}

/// Looks at a deadline once for each batch of work: to look costs as much as a few hundred samples.
public struct DeadlineWatch: Sendable {
    /// Samples of a batch.
    public static let batch = 1 << 16
    /// Samples that the work around a row, however short it is, is worth.
    private static let row = 64

    public let deadline: Deadline
    private var done = 0

    public init(_ deadline: Deadline) { self.deadline = deadline }

    /// Counts a row of `samples` samples.
    /// - Throws: `CodecError.timedOut` if a batch is done and there is no time left.
    public mutating func row(samples: Int) throws(CodecError) {
        done += samples + Self.row
        guard done >= Self.batch else { return }
        done = 0
        try deadline.check()
    }
}
