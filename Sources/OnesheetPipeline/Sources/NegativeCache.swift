import OnesheetCache
import OnesheetCore

/// The negative cache of a source: remembers for minutes that the source does not have something, and for seconds that it failed, so
/// that a repeated question costs one call.
///
/// In memory only, and bounded: made-up names never become cache entries.
struct NegativeCache<Value: Sendable>: Sendable {
    private let outcomes: TimedMemory<ExactText, Result<Value, Failure>>

    init(clock: WallClock) { outcomes = TimedMemory(clock: clock) }

    /// The remembered empty answer or failure under `key`. A purge forgets all.
    func recall(_ key: String, at generation: CacheGeneration) -> Result<Value, Failure>? {
        outcomes.recall(ExactText(key), at: generation)
    }

    /// Remembers an empty answer for ten minutes, or a failure for as long as it says.
    /// - Parameter missing: the seconds for which it is remembered that there is nothing; `nil` is as usual.
    func note(_ outcome: Result<Value, Failure>, _ key: String, missing: Double? = nil, at generation: CacheGeneration) {
        let seconds: Double? =
            switch outcome {
            case .success: missing ?? 600
            case .failure(let failure):
                (failure.traits.contains(.isMissing) ? missing : nil)
                    ?? failure.seconds(\.question, isPrefetch: Urgency.current == .prefetch)
            }
        guard let seconds else { return }
        outcomes.remember(outcome, for: ExactText(key), seconds: seconds, bytes: key.utf8.count, at: generation)
    }
}
