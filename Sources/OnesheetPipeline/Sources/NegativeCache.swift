import OnesheetCache
import OnesheetCore

/// The negative cache of a source: remembers for minutes that the source does not have something, and for seconds that it failed, so
/// that a repeated question costs one call.
///
/// In memory only, and bounded: made-up names never become cache entries.
struct NegativeCache<Value: Sendable>: Sendable {
    private let outcomes: TimedMemory<ExactText, Result<Value, SourceError>>

    init(clock: WallClock) { outcomes = TimedMemory(clock: clock) }

    /// The remembered empty answer or error under `key`. A purge forgets all.
    func recall(_ key: String, at generation: CacheGeneration) -> Result<Value, SourceError>? {
        outcomes.recall(ExactText(key), at: generation)
    }

    /// Remembers an empty answer, or an error for a time that depends on its kind.
    func note(_ outcome: Result<Value, SourceError>, _ key: String, at generation: CacheGeneration) {
        guard let seconds = Self.seconds(outcome) else { return }
        outcomes.remember(outcome, for: ExactText(key), seconds: seconds, bytes: key.utf8.count, at: generation)
    }

    private static func seconds(_ outcome: Result<Value, SourceError>) -> Double? {
        switch outcome {
        case .success, .failure(.notFound): 600
        // The remaining calls are reserved for interactive requests.
        case .failure(.quotaExhausted) where Urgency.current == .prefetch: nil
        // Each costs a call and will most likely fail again.
        case .failure(.malformedAnswer), .failure(.unauthorized), .failure(.quotaExhausted(until: nil)): 30
        case .failure(.unavailable), .failure(.failed): 2
        // Neither costs a call, nor says anything about the answer.
        case .failure(.quotaExhausted), .failure(.unsupported), .failure(.overloaded): nil
        }
    }
}
