import FoundationEssentials
import OnesheetCache
import OnesheetCore
import Synchronization

/// Remembers for a short while what could not be had, so that a missing poster asked for a thousand times is looked for once.
///
/// In memory only: a failure is never a cache entry, so it is never served as the truth later.
final class FailureMemory: Sendable {
    private struct Failure {
        let error: PipelineError
        /// While it is told. Outside of it are also moments before it was noted: the clock was set back then.
        let time: Range<Date>
        let mark: PurgeMark
    }

    private struct Failures {
        var byTitle: [TitleReference: Failure] = [:]
        /// While those that are over are not looked for again: to look at all for each one more would take longer the more there are.
        var cleared: Range<Date>?
    }

    private let failures = Mutex(Failures())
    private let clock: WallClock
    private static let capacity = 10_000

    init(clock: WallClock) { self.clock = clock }

    /// - Throws: the failure of `title` that is still remembered; after a purge everything is looked for again.
    func check(_ title: TitleReference, at mark: PurgeMark) throws(PipelineError) {
        let now = clock.now
        let failure = failures.withLock { failures -> Failure? in
            guard let failure = failures.byTitle[title] else { return nil }
            if failure.time.contains(now), failure.mark == mark { return failure }
            failures.byTitle[title] = nil
            return nil
        }
        if let failure { throw failure.error }
    }

    /// Remembers `error` for as long as its kind is worth it.
    func remember(_ error: PipelineError, of title: TitleReference, at mark: PurgeMark) {
        guard let seconds = Self.seconds(error) else { return }
        let now = clock.now
        failures.withLock { failures in
            if failures.byTitle.count >= Self.capacity, failures.cleared?.contains(now) != true {
                failures.byTitle = failures.byTitle.filter { $0.value.time.contains(now) }
                failures.cleared = now..<now.addingTimeInterval(1)
            }
            // Still full: whoever floods it with names that do not exist loses the benefit, not the memory.
            guard failures.byTitle.count < Self.capacity else { return }
            failures.byTitle[title] = Failure(error: error, time: now..<now.addingTimeInterval(seconds), mark: mark)
        }
    }

    /// What does not exist is asked for again after minutes, what failed after seconds; what is this server's own trouble at once.
    private static func seconds(_ error: PipelineError) -> Double? {
        switch error {
        case .noPoster, .source(_, .notFound), .source(_, .unsupported), .originRefused(_, 404), .originRefused(_, 410): 120
        case .originRefused, .render: 30
        // A worker was taken for all of its time, and may be still.
        case .timedOut: 600
        // What is kept for people is not used up for them.
        case .source(_, .quotaExhausted) where Urgency.current == .prefetch: nil
        case .origin, .source: 2
        case .unknownSource, .overloaded, .tooManyRequests, .cancelled: nil
        }
    }
}
