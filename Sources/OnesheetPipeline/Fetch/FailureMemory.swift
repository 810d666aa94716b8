import OnesheetCache
import OnesheetCore
import OnesheetImaging

/// Remembers failures for a short time, so that a thousand requests for a missing poster cause one search.
///
/// In memory only: a failure is never a cache entry, so it is never served as a permanent answer.
struct FailureMemory: Sendable {
    private let failures: TimedMemory<TitleReference, PipelineError>

    init(clock: WallClock) { failures = TimedMemory(clock: clock) }

    /// - Throws: the remembered failure of `title`. A purge forgets all failures.
    func check(_ title: TitleReference, at generation: CacheGeneration) throws(PipelineError) {
        if let error = remembered(title, at: generation) { throw error }
    }

    /// The failure of `title`, if it is still remembered.
    func remembered(_ title: TitleReference, at generation: CacheGeneration) -> PipelineError? {
        failures.recall(title, at: generation)
    }

    /// Remembers `error` for a time that depends on its kind.
    func remember(_ error: PipelineError, of title: TitleReference, at generation: CacheGeneration) {
        guard let seconds = Self.seconds(error) else { return }
        let bytes = title.id.utf8.count + title.source.utf8.count
        failures.remember(error, for: title, seconds: seconds, bytes: bytes, at: generation)
    }

    /// A missing poster is remembered for minutes, another failure for seconds. Failures of this server are not remembered.
    private static func seconds(_ error: PipelineError) -> Double? {
        switch error {
        case .noPoster, .source(_, .notFound), .source(_, .unsupported), .originRefused(_, 404), .originRefused(_, 410): 120
        // The job has occupied a worker for its whole deadline, and may still do so.
        case .timedOut, .render(.timedOut): 600
        // These say nothing about the picture.
        case .render(.noProcess), .render(.lost(.killed)): nil
        case .originRefused, .render: 30
        // Prefetch quota errors are not remembered: they do not apply to interactive requests.
        case .source(_, .quotaExhausted) where Urgency.current == .prefetch: nil
        case .origin, .source: 2
        case .unknownSource, .overloaded, .tooManyRequests, .cancelled: nil
        }
    }
}
