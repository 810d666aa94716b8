/// A share of a day's calls as a token bucket. A quarter of the share is available at once and the rest over the day, so no burst
/// takes all of it. Any 24 hours have at most as many calls as the share.
///
/// The whole state is the time at which the bucket will be full (GCRA, ITU-T I.371). It survives a restart as one number.
struct TokenBucket: Sendable {
    /// Calls that a full bucket allows at once; 0 never allows any.
    let capacity: Double
    /// Seconds for one more call.
    let interval: Double

    /// - Parameter calls: the share of a day, in calls.
    init(calls: Double) {
        capacity = calls > 0 ? max(1, (calls / 4).rounded(.down)) : 0
        // A share of one call or less is one call in the corresponding number of days.
        interval = calls > 0 ? 86_400 / (calls > capacity ? calls - capacity : calls) : 0
    }

    /// The outcome of a call; times are seconds since 1970.
    enum Outcome: Sendable, Equatable {
        /// The time at which the bucket will be full after the call.
        case allowed(fullAt: Double)
        /// The time of the next allowed call; `nil` is never.
        case refused(until: Double?)
    }

    /// The outcome of a call at `now` on a bucket that is full at `fullAt`.
    func spend(fullAt: Double, now: Double) -> Outcome {
        guard capacity > 0 else { return .refused(until: nil) }
        let width = capacity * interval
        // A time beyond that of an empty bucket was written before the clock was set back.
        let next = (fullAt > now && fullAt <= now + width + interval ? fullAt : now) + interval
        // A tolerance of a millisecond, because sums of many intervals are not exact.
        return next - now <= width + 0.001 ? .allowed(fullAt: next) : .refused(until: next - width)
    }
}
