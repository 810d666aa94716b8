import FoundationEssentials
import OnesheetCore

/// Records how misses are filled: the durations of the stages, and the outcome of each.
struct FillRecord {
    var watch: Stopwatch
    var askedOrigin: Bool?
    private let misses: [Fill.Miss]
    private let began: Date
    private let metrics: PipelineMetrics

    init(of fill: Fill, began: Date, metrics: PipelineMetrics) {
        misses = fill.misses
        self.began = began
        self.metrics = metrics
        watch = Stopwatch(metrics)
    }

    func note(_ answer: ImageAnswer, to request: ImageRequest) {
        note(request, origin: answer.origin, failure: nil, isStorable: answer.isStorable)
    }

    func note(failure: Failure) {
        if failure == .cancelled { return }
        for miss in misses {
            note(miss.request, origin: nil, failure: failure.message, isStorable: true)
        }
    }

    private func note(_ request: ImageRequest, origin: AnswerOrigin?, failure: String?, isStorable: Bool) {
        let wasStale = misses.first { $0.request.key == request.key }?.stale != nil
        metrics.makings.note(
            RecentMakings.Making(
                began: began, wasStale: wasStale, askedOrigin: askedOrigin, stages: watch.laps, origin: origin,
                failure: failure, isStorable: isStorable),
            of: request.key)
    }
}
