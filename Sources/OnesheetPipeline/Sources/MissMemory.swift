import FoundationEssentials
import OnesheetCache
import OnesheetCore
import Synchronization

/// Remembers for minutes that a source does not have something, and for seconds that it failed, so that a repeated question costs
/// one call.
///
/// In memory only, and bounded: made-up names never become cache entries.
final class MissMemory<Value: Sendable>: Sendable {
    private struct Miss {
        let outcome: Result<Value, SourceError>
        /// The time in which the answer is repeated. A time before the answer is outside of it: the clock was set back.
        let time: Range<Date>
        let generation: CacheGeneration
    }

    private let misses = Mutex(TwoGenerations<ExactText, Miss>(count: 8192, weight: 4 << 20))
    private let clock: WallClock

    init(clock: WallClock) { self.clock = clock }

    /// The remembered empty answer or error under `key`. A purge forgets all.
    func recall(_ key: String, at generation: CacheGeneration) -> Result<Value, SourceError>? {
        let now = clock.now
        return misses.withLock { misses -> Result<Value, SourceError>? in
            guard let miss = misses.value(for: ExactText(key)) else { return nil }
            if miss.time.contains(now), miss.generation == generation { return miss.outcome }
            misses.remove(ExactText(key))
            return nil
        }
    }

    /// Remembers an empty answer, or an error for a time that depends on its kind.
    func note(_ outcome: Result<Value, SourceError>, _ key: String, at generation: CacheGeneration) {
        guard let seconds = Self.seconds(outcome) else { return }
        let now = clock.now
        let miss = Miss(outcome: outcome, time: now..<now.addingTimeInterval(seconds), generation: generation)
        misses.withLock { $0.set(miss, for: ExactText(key), weight: key.utf8.count) }
    }

    var count: Int { misses.withLock { $0.count } }

    private static func seconds(_ outcome: Result<Value, SourceError>) -> Double? {
        switch outcome {
        case .success, .failure(.notFound): 600
        // The remaining calls are reserved for interactive requests.
        case .failure(.quotaExhausted) where Urgency.current == .prefetch: nil
        // Each costs a call and will most likely fail again.
        case .failure(.malformedAnswer), .failure(.unauthorized), .failure(.quotaExhausted(until: nil)): 30
        case .failure(.unavailable): 2
        // Neither costs a call.
        case .failure(.quotaExhausted), .failure(.unsupported): nil
        }
    }
}
