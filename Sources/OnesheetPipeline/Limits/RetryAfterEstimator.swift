/// Estimates when a newcomer gets one of several slots, from the time for which earlier jobs held them.
struct RetryAfterEstimator {
    /// The average time for which a slot is held, in seconds, weighted towards the latest. One second is the initial guess.
    private var seconds = 1.0

    /// Records that a slot was held for `taken` seconds.
    mutating func add(_ taken: Double) { seconds += 0.2 * (max(taken, 0) - seconds) }

    /// Seconds until a newcomer behind `waiting` others will probably get one of `places` slots.
    func retryAfter(waiting: Int, places: Int) -> Int {
        max(1, Int((seconds * Double(waiting + 1) / Double(places)).rounded(.up)))
    }
}
