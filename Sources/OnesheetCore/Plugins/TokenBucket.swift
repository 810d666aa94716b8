/// A share of a day's calls as a token bucket: a quarter of the share at once, the rest spread over the day, so that no burst takes it
/// all. In no 24 hours are more calls made than the share has, wherever a day begins.
///
/// The bucket's whole state is the moment at which it will be full again (GCRA, ITU-T I.371), so that it survives a restart as one
/// number.
struct TokenBucket: Sendable {
    /// Calls that a full bucket allows at once; 0 allows none ever.
    let capacity: Double
    /// Seconds in which one more call is allowed.
    let interval: Double

    /// - Parameter calls: the share of a day, in calls.
    init(calls: Double) {
        capacity = calls > 0 ? max(1, (calls / 4).rounded(.down)) : 0
        // A share of a single call or less is one call in as many days.
        interval = calls > 0 ? 86_400 / (calls > capacity ? calls - capacity : calls) : 0
    }

    /// What comes of a call; moments in seconds since 1970.
    enum Outcome: Sendable, Equatable {
        /// When the bucket is full again afterwards.
        case allowed(fullAt: Double)
        /// When the next call is allowed; `nil` is never.
        case refused(until: Double?)
    }

    /// What a call at `now` makes of a bucket that is full at `fullAt`.
    func spend(fullAt: Double, now: Double) -> Outcome {
        guard capacity > 0 else { return .refused(until: nil) }
        let width = capacity * interval
        // A bucket that is full later than an empty one can be was written before the clock was set back.
        let next = (fullAt > now && fullAt <= now + width + interval ? fullAt : now) + interval
        // A millisecond of grace: sums of many intervals are not exact.
        return next - now <= width + 0.001 ? .allowed(fullAt: next) : .refused(until: next - width)
    }
}
