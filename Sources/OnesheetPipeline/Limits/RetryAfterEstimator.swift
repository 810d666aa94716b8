/// Estimates when a newcomer gets one of several places, from how long the places were taken before.
struct RetryAfterEstimator {
    /// Seconds that a place is taken, on average, the latest counting most. One second is a guess until the first is given back.
    private var seconds = 1.0

    /// Records that a place was taken for `taken` seconds.
    mutating func add(_ taken: Double) { seconds += 0.2 * (max(taken, 0) - seconds) }

    /// Seconds until a newcomer behind `waiting` others probably has one of `places`.
    func retryAfter(waiting: Int, places: Int) -> Int {
        max(1, Int((seconds * Double(waiting + 1) / Double(places)).rounded(.up)))
    }
}
