import OnesheetCache
import OnesheetCore

/// Remembers the failures of originals and variants for a short time, so that a thousand requests for a missing poster cause one search.
/// What belongs to one variant, such as a transform that takes too long, leaves the others and their original alone.
///
/// In memory only: a failure is never a cache entry, so it is never served as a permanent answer.
struct FailureMemory: Sendable {
    private let failures: TimedMemory<CacheKey, Failure>

    init(clock: WallClock) { failures = TimedMemory(clock: clock) }

    /// - Throws: the remembered failure of the entry for `key`. A purge forgets all failures.
    func check(_ key: CacheKey, at generation: CacheGeneration) throws(Failure) {
        if let failure = remembered(key, at: generation) { throw failure }
    }

    /// The failure of the entry for `key`, if it is still remembered.
    func remembered(_ key: CacheKey, at generation: CacheGeneration) -> Failure? { failures.recall(key, at: generation) }

    /// Remembers `failure` for as long as it says.
    func remember(_ failure: Failure, of key: CacheKey, at generation: CacheGeneration) {
        guard let seconds = failure.seconds(\.image, isPrefetch: Urgency.current == .prefetch) else { return }
        failures.remember(failure, for: key, seconds: seconds, bytes: key.text.utf8.count, at: generation)
    }

    /// The outcome of `work`. Its failure is remembered.
    func noting<Value>(
        _ key: CacheKey, at generation: CacheGeneration, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        do throws(Failure) { return try await work() } catch {
            remember(error, of: key, at: generation)
            throw error
        }
    }
}
