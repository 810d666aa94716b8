/// Measures the stages that one request goes through.
struct Stopwatch {
    private var last = ContinuousClock.now
    private var laps: [StageTiming] = []

    /// Ends the stage `name`.
    /// - Returns: all stages so far.
    mutating func lap(_ name: String) -> [StageTiming] {
        let now = ContinuousClock.now
        laps.append(StageTiming(stage: name, milliseconds: (now - last) / .milliseconds(1)))
        last = now
        return laps
    }
}
