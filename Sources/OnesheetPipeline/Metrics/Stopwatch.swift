/// Measures the stages that one request goes through.
struct Stopwatch {
    private var last = ContinuousClock.now
    private var laps: [StageTiming] = []
    private let figures: PipelineFigures

    init(_ figures: PipelineFigures) { self.figures = figures }

    /// Ends the stage `name`, and counts it.
    /// - Returns: all stages so far.
    mutating func lap(_ name: String) -> [StageTiming] {
        let now = ContinuousClock.now
        figures.stages.add(now - last, to: name)
        laps.append(StageTiming(stage: name, milliseconds: (now - last) / .milliseconds(1)))
        last = now
        return laps
    }
}
