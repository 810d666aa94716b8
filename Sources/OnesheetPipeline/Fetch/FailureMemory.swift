import FoundationEssentials
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import Synchronization

/// Remembers failures for a short while, so that a thousand requests for a missing poster look for it once.
///
/// In memory only: a failure is never a cache entry, so it is never served as the truth later.
final class FailureMemory: Sendable {
    private struct Failure {
        let error: PipelineError
        /// While it is told. Outside of it are also moments before it was noted: the clock was set back then.
        let time: Range<Date>
        let mark: CacheGeneration
    }

    /// Bounds both the number of failures and the bytes of their names, which can be long.
    private let failures = Mutex(TwoGenerations<TitleReference, Failure>(count: 8192, weight: 4 << 20))
    private let clock: WallClock

    init(clock: WallClock) { self.clock = clock }

    /// - Throws: the failure of `title` that is still remembered; after a purge everything is looked for again.
    func check(_ title: TitleReference, at mark: CacheGeneration) throws(PipelineError) {
        let now = clock.now
        let failure = failures.withLock { failures -> Failure? in
            guard let failure = failures.value(for: title) else { return nil }
            if failure.time.contains(now), failure.mark == mark { return failure }
            failures.remove(title)
            return nil
        }
        if let failure { throw failure.error }
    }

    /// Remembers `error` for as long as its kind is worth it.
    func remember(_ error: PipelineError, of title: TitleReference, at mark: CacheGeneration) {
        guard let seconds = Self.seconds(error) else { return }
        let now = clock.now
        let failure = Failure(error: error, time: now..<now.addingTimeInterval(seconds), mark: mark)
        failures.withLock { $0.set(failure, for: title, weight: title.id.utf8.count + title.source.utf8.count) }
    }

    /// How many failures are remembered.
    var count: Int { failures.withLock { $0.count } }

    /// Missing posters are asked for again after minutes, other failures after seconds. Failures of this server are not remembered.
    private static func seconds(_ error: PipelineError) -> Double? {
        switch error {
        case .noPoster, .source(_, .notFound), .source(_, .unsupported), .originRefused(_, 404), .originRefused(_, 410): 120
        // A worker was taken for all of its time, and may be still.
        case .timedOut, .render(.timedOut): 600
        case .originRefused, .render: 30
        // The reserve for interactive requests is not exhausted for them.
        case .source(_, .quotaExhausted) where Urgency.current == .prefetch: nil
        case .origin, .source: 2
        case .unknownSource, .overloaded, .tooManyRequests, .cancelled: nil
        }
    }
}
