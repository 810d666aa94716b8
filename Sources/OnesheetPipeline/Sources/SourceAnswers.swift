import FoundationEssentials
import Logging
import OnesheetCache
import OnesheetCore

/// A question to a source.
struct SourceQuestion: Sendable {
    /// The key of the answer in the cache. Questions that are the same to the source share it.
    let key: String
    /// The key under which a missing answer is remembered; may distinguish more than `key`.
    var missKey: String
    let source: String
    let tags: [CacheTag]
}

/// A source's answers of one kind. Each is cached while it is valid, and longer in case the source cannot answer. Missing answers are
/// remembered for minutes, and concurrent callers with the same question share one call.
struct SourceAnswers<Value: Codable & Sendable>: Sendable {
    /// How an answer is kept.
    enum Worth {
        case keeping(CacheExpiration)
        /// There is nothing. Remembered in memory only, so that made-up names do not fill a tier.
        case remembering
        case nothing
    }

    private let storage: TypedStorage<JSONCached<DatedAnswer<Value>>>
    private let cache: Cache
    private let clock: WallClock
    private let logger: Logger
    private let misses: MissMemory<Value>
    private let flights: Coalescing<FlightKey<ExactText>, Value, PipelineError>

    /// - Parameters:
    ///   - name: what sets these answers apart from others in the cache.
    ///   - onJoin: called when a caller waits for an answer, so that a test knows when all do.
    init(
        _ name: String, cache: Cache, clock: WallClock, logger: Logger,
        onJoin: @escaping @Sendable (_ waiters: Int) -> Void = { _ in }
    ) {
        (self.cache, self.clock, self.logger) = (cache, clock, logger)
        storage = TypedStorage(name, in: cache, clock: clock)
        misses = MissMemory(clock: clock)
        flights = Coalescing(cancelled: .cancelled, full: .overloaded(retryAfter: 1)) { _, waiters in onJoin(waiters) }
    }

    /// The answer in the cache under `key`, fresh or not. Asks no source.
    func kept(_ key: String) async -> DatedAnswer<Value>? { await storage.value(forKey: key)?.value }

    /// The answer that is kept while it is fresh, or else the source's; where the source cannot answer now, the kept one all the same.
    /// - Parameters:
    ///   - isListed: whether the source lists what the question is about, or who asks is the administrator.
    ///   - remembers: whether asking costs something, so that it is remembered what is not there.
    func answer(
        _ question: SourceQuestion, isListed: Bool, remembers: Bool, worth: @escaping @Sendable (Value) -> Worth,
        _ ask: @escaping @Sendable () async throws(SourceError) -> Value
    ) async throws(PipelineError) -> Value {
        let kept = await kept(question.key)
        if let kept, kept.isFresh(at: clock.now) { return kept.value }
        let mark = await cache.generation()
        if !remembers || misses.recall(question.missKey, at: mark) == nil {
            // A client that has used up its share gets what is kept, although it is stale.
            do throws(PipelineError) { try MissPermit.take() } catch {
                guard let kept else { throw error }
                return kept.value
            }
        }
        return try await flights.share(FlightKey(ExactText(question.key), at: mark)) { () async throws(PipelineError) -> Value in
            // An earlier flight may have stored it meanwhile.
            let kept = await self.kept(question.key)
            if let kept, kept.isFresh(at: clock.now) { return kept.value }
            let isKnown = isListed || (kept?.isKnown ?? (kept != nil))
            let familiarity = isKnown ? Familiarity.known : .unknown
            let outcome: Result<Value, SourceError>
            if remembers, let miss = misses.recall(question.missKey, at: mark) {
                outcome = miss
            } else {
                outcome = await Familiarity.$current.withValue(familiarity) { await Self.outcome(ask) }
                switch (outcome, outcome.value.map(worth)) {
                case (.success(let value), .keeping(let fresh)?):
                    await keep(value, for: question, fresh: fresh, isKnown: isKnown, at: mark)
                case (.success, .nothing?): break
                // A cancelled call says nothing about the answer.
                default: if remembers, !Task.isCancelled { misses.note(outcome, question.missKey, at: mark) }
                }
            }
            do throws(SourceError) { return try outcome.get() } catch {
                let error = PipelineError.source(question.source, error)
                guard let kept, error.isOriginsFault else { throw error }
                logger.notice("a stale answer is used", metadata: ["key": "\(question.key)", "reason": "\(error)"])
                return kept.value
            }
        }
    }

    private static func outcome(_ ask: @Sendable () async throws(SourceError) -> Value) async -> Result<Value, SourceError> {
        do throws(SourceError) { return .success(try await ask()) } catch { return .failure(error) }
    }

    /// Stores an answer. One that cannot be stored is answered all the same, and asked for again next time.
    private func keep(
        _ value: Value, for question: SourceQuestion, fresh: CacheExpiration, isKnown: Bool, at mark: CacheGeneration
    ) async {
        let dated = DatedAnswer(value: value, freshUntil: fresh.moment(from: clock.now), isKnown: isKnown)
        // How long an answer is of use when its source cannot give a newer one.
        let life = dated.freshUntil == nil ? CacheExpiration.never : .days(30)
        do {
            try await storage.store(
                JSONCached(dated), forKey: question.key, expiration: life, tags: question.tags, ifGeneration: mark)
        } catch {
            logger.warning("an answer cannot be cached: \(error)", metadata: ["key": "\(question.key)"])
        }
    }
}

/// An answer, and until when its source's answer would be the same.
struct DatedAnswer<Value: Codable & Sendable>: Codable, Sendable {
    let value: Value
    /// `nil` is for ever.
    let freshUntil: Date?
    /// Whether it was known when it was asked for (`Familiarity`), so that it may be asked for again without using up the share of what
    /// is not. What a stranger asked for once does not become known by that: over days all of a quota would go to renewing it. `nil` in
    /// answers that were stored before this was noted.
    let isKnown: Bool?

    func isFresh(at now: Date) -> Bool { freshUntil.map { now < $0 } ?? true }
}

extension Result {
    /// The value of a success.
    fileprivate var value: Success? {
        if case .success(let value) = self { value } else { nil }
    }
}
