import FoundationEssentials
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import Synchronization

/// Remembers failures for a short time, so that a thousand requests for a missing poster cause one search.
///
/// In memory only: a failure is never a cache entry, so it is never served as a permanent answer.
final class FailureMemory: Sendable {
    private struct Failure {
        let error: PipelineError
        /// The time in which the failure is repeated. A time before the failure is outside of it: the clock was set back.
        let time: Range<Date>
        let generation: CacheGeneration
    }

    /// Bounds both the number of failures and the bytes of their names, which can be long.
    private let failures = Mutex(TwoGenerations<TitleReference, Failure>(count: 8192, weight: 4 << 20))
    private let clock: WallClock

    init(clock: WallClock) { self.clock = clock }

    /// - Throws: the remembered failure of `title`. A purge forgets all failures.
    func check(_ title: TitleReference, at generation: CacheGeneration) throws(PipelineError) {
        if let error = remembered(title, at: generation) { throw error }
    }

    /// The failure of `title`, if it is still remembered.
    func remembered(_ title: TitleReference, at generation: CacheGeneration) -> PipelineError? {
        let now = clock.now
        return failures.withLock { failures in
            guard let failure = failures.value(for: title) else { return nil }
            if failure.time.contains(now), failure.generation == generation { return failure.error }
            failures.remove(title)
            return nil
        }
    }

    /// Remembers `error` for a time that depends on its kind.
    func remember(_ error: PipelineError, of title: TitleReference, at generation: CacheGeneration) {
        guard let seconds = Self.seconds(error) else { return }
        let now = clock.now
        let failure = Failure(error: error, time: now..<now.addingTimeInterval(seconds), generation: generation)
        failures.withLock { $0.set(failure, for: title, weight: title.id.utf8.count + title.source.utf8.count) }
    }

    /// The number of remembered failures.
    var count: Int { failures.withLock { $0.count } }

    /// A missing poster is remembered for minutes, another failure for seconds. Failures of this server are not remembered.
    private static func seconds(_ error: PipelineError) -> Double? {
        switch error {
        case .noPoster, .source(_, .notFound), .source(_, .unsupported), .originRefused(_, 404), .originRefused(_, 410): 120
        // The job has occupied a worker for its whole deadline, and may still do so.
        case .timedOut, .render(.timedOut): 600
        // Nothing about the picture.
        case .render(.noWorker), .render(.lost(.killed)): nil
        case .originRefused, .render: 30
        // Prefetch quota errors are not remembered: they do not apply to interactive requests.
        case .source(_, .quotaExhausted) where Urgency.current == .prefetch: nil
        case .origin, .source: 2
        case .unknownSource, .overloaded, .tooManyRequests, .cancelled: nil
        }
    }
}
