import FoundationEssentials
import Logging
import OnesheetCache
import OnesheetCore

/// A question to a source.
struct SourceQuestion: Sendable {
    /// The key of the answer in the cache. Questions with the same meaning share it.
    let key: String
    /// The key under which a missing answer is remembered. It may distinguish more than `key`.
    var missKey: String
    let source: String
    let tags: [CacheTag]
}

/// A source's answers of one kind. Each is cached while it is valid, and longer in case the source fails. Missing answers are
/// remembered for minutes, and concurrent callers with the same question share one call.
final class SourceAnswers<Value: Codable & Sendable>: Sendable {
    /// How an answer is stored.
    enum Worth {
        case keeping(CacheExpiration)
        /// There is no such thing. Remembered in memory only, so that made-up names do not fill a tier.
        case remembering
        case nothing
    }

    private let storage: TypedStorage<JSONCached<DatedAnswer<Value>>>
    private let cache: Cache
    private let clock: WallClock
    private let logger: Logger
    private let negatives: NegativeCache<Value>
    private let flights: Coalescing<FlightKey<ExactText>, Value, Failure>

    /// - Parameters:
    ///   - name: distinguishes these answers from others in the cache.
    ///   - memory: counts stored answers while they are read. None is refused, because its source would be asked instead.
    ///   - decoded: the bytes of answers that are kept as values.
    init(
        _ name: String, cache: Cache, counting memory: MemoryBudget, clock: WallClock, logger: Logger, keeping decoded: Int = 0
    ) {
        self.cache = cache
        self.clock = clock
        self.logger = logger
        let storage = TypedStorage<JSONCached<DatedAnswer<Value>>>(
            name, in: cache, clock: clock, keeping: decoded, reading: { ReadingMemory(charging: memory) })
        self.storage = storage
        negatives = NegativeCache(clock: clock)
        flights = Coalescing(
            cancelled: .cancelled, full: .overloaded(retryAfter: 1),
            find: { flight in
                guard let kept = await storage.valueStoredSince(forKey: flight.key.description)?.value,
                    kept.isFresh(at: clock.now)
                else { return nil }
                return kept.value
            })
    }

    /// The cached answer under `key`, fresh or stale. Asks no source.
    func kept(_ key: String) async -> DatedAnswer<Value>? { await storage.value(forKey: key)?.value }

    /// The cached answer if it is fresh, otherwise the source's. If the source fails, the cached answer even if it is stale.
    /// - Parameters:
    ///   - isListed: whether the source lists the subject of the question, or the caller is the administrator. Only called before the
    ///     source is asked about a subject that the cached answer does not know.
    ///   - remembers: whether calls cost something, so that missing answers are remembered.
    ///   - isKept: whether answers to such questions are ever stored. If not, no tier is asked for one.
    ///   - missing: the seconds for which it is remembered that there is no such thing; `nil` is as usual.
    ///   - note: called with a fresh answer, found in the cache or just given by the source.
    func answer(
        _ question: SourceQuestion, isListed: @escaping @Sendable () async -> Bool, remembers: Bool, isKept: Bool = true,
        missing: Double? = nil,
        worth: @escaping @Sendable (Value) -> Worth, noting note: @escaping @Sendable (DatedAnswer<Value>) -> Void = { _ in },
        _ ask: @escaping @Sendable () async throws(SourceError) -> Value
    ) async throws(Failure) -> Value {
        let kept = isKept ? await kept(question.key) : nil
        if let kept, kept.isFresh(at: clock.now) {
            note(kept)
            return kept.value
        }
        let generation = await cache.generation()
        if !remembers || negatives.recall(question.missKey, at: generation) == nil {
            // A client without a remaining share gets the cached answer although it is stale.
            do throws(Failure) { try WorkContext.current.countMiss() } catch {
                guard let kept else { throw error }
                return kept.value
            }
        }
        return try await flights.share(FlightKey(ExactText(question.key), at: generation)) {
            [self] () async throws(Failure) -> Value in
            let outcome: Result<Value, Failure>
            if remembers, let miss = negatives.recall(question.missKey, at: generation) {
                outcome = miss
            } else {
                var isKnown = kept?.isKnown ?? (kept != nil)
                // Only what costs something has a share for unknown subjects.
                if !isKnown, remembers { isKnown = await isListed() }
                let familiarity = isKnown ? Familiarity.known : .unknown
                outcome = await WorkContext.with({ $0.familiarity = familiarity }) { await Self.outcome(question.source, ask) }
                switch (outcome, outcome.value.map(worth)) {
                case (.success(let value), .keeping(let fresh)?):
                    let dated = DatedAnswer(value: value, freshUntil: fresh.moment(from: clock.now), isKnown: isKnown)
                    await keep(dated, for: question, at: generation)
                    note(dated)
                case (.success, .nothing?): break
                // A cancelled call says nothing about the answer.
                default:
                    if remembers, !Task.isCancelled { negatives.note(outcome, question.missKey, missing: missing, at: generation) }
                }
            }
            do throws(Failure) { return try outcome.get() } catch {
                // A prefetch waits for what a service limits, instead of taking what is stale.
                let mayWait = Urgency.current == .prefetch && error.traits.contains(.pausesPrefetch)
                guard let kept, error.traits.contains(.allowsStale), !mayWait else { throw error }
                logger.notice("a stale answer is used", metadata: ["key": "\(shown(naming: question.key))", "reason": "\(error)"])
                return kept.value
            }
        }
    }

    private static func outcome(
        _ source: String, _ ask: @Sendable () async throws(SourceError) -> Value
    ) async -> Result<Value, Failure> {
        do throws(SourceError) { return .success(try await ask()) } catch { return .failure(.source(source, error)) }
    }

    /// Stores an answer. An answer that cannot be stored is returned anyway, and asked for again next time.
    private func keep(_ dated: DatedAnswer<Value>, for question: SourceQuestion, at generation: CacheGeneration) async {
        // An answer is useful for a month longer while its source fails.
        let life = dated.freshUntil.map { CacheExpiration.date($0.addingTimeInterval(30 * 86_400)) } ?? .never
        do {
            try await storage.store(
                JSONCached(dated), forKey: question.key, expiration: life, tags: question.tags, ifGeneration: generation)
        } catch {
            logger.warning("an answer cannot be cached: \(error)", metadata: ["key": "\(shown(naming: question.key))"])
        }
    }
}

/// An answer, and the time until which it is valid.
struct DatedAnswer<Value: Codable & Sendable>: Codable, Sendable {
    let value: Value
    /// `nil` is for ever.
    let freshUntil: Date?
    /// Whether the subject was known at the time of the call (`Familiarity`), so that a renewal does not count against the share
    /// for unknown titles. An answer to an unknown question stays unknown: otherwise renewals would use up the whole quota over
    /// days. `nil` in answers of versions that did not record it.
    let isKnown: Bool?

    func isFresh(at now: Date) -> Bool { freshUntil.map { now < $0 } ?? true }
}

extension Result {
    /// The value of a success.
    fileprivate var value: Success? {
        if case .success(let value) = self { value } else { nil }
    }
}
