import FoundationEssentials
package import Logging
package import OnesheetCache
package import OnesheetCore

/// The sources' titles, each answer kept in the cache for as long as it holds, and longer for when its source cannot answer.
package struct Catalog: Sendable {
    package let sources: [String: any ContentSource]
    private let pages: TypedStorage<JSONCached<DatedAnswer<TitlePage>>>
    private let titles: TypedStorage<JSONCached<DatedAnswer<Title>>>
    private let clock: WallClock
    private let logger: Logger

    package init(sources: [String: any ContentSource], cache: Cache, clock: WallClock = .system, logger: Logger) {
        self.logger = logger
        self.sources = sources
        pages = TypedStorage("titles", in: cache, clock: clock)
        titles = TypedStorage("title", in: cache, clock: clock)
        self.clock = clock
    }

    /// One page of the titles of `source`.
    package func titles(of source: String, _ query: TitleQuery) async throws(PipelineError) -> TitlePage {
        let plugin = try plugin(source)
        let key = "\(source)://?\(query.date.map { "\($0)" } ?? "")&\(query.period.rawValue)&\(query.page)&\(query.phrase ?? "")"
        return try await answer(in: pages, key, of: source, fresh: lifetime(of: query), [.source(source), .lists(of: source)]) {
            () async throws(SourceError) in try await plugin.titles(query)
        }
    }

    /// All that its source knows about `title`.
    package func title(_ title: TitleReference) async throws(PipelineError) -> Title {
        let plugin = try plugin(title.source)
        return try await answer(
            in: titles, title.description, of: title.source, fresh: .days(1), [.source(title.source), .title(title)]
        ) { () async throws(SourceError) in try await plugin.title(title.id) }
    }

    /// Where the original of `title` may be, best first.
    package func candidates(for title: TitleReference) async throws(PipelineError) -> [PosterCandidate] {
        let plugin = try plugin(title.source)
        try MissPermit.take()
        do throws(SourceError) { return try await plugin.candidates(for: title.id) } catch { throw .source(title.source, error) }
    }

    /// The answer that is kept while it is fresh, or else the source's; where the source cannot answer now, the kept one all the same.
    private func answer<Value: Codable & Sendable>(
        in storage: TypedStorage<JSONCached<DatedAnswer<Value>>>, _ key: String, of source: String, fresh: CacheExpiration,
        _ tags: [CacheTag], _ ask: () async throws(SourceError) -> Value
    ) async throws(PipelineError) -> Value {
        let kept = await storage.value(forKey: key)?.value
        if let kept, kept.isFresh(at: clock.now) { return kept.value }
        try MissPermit.take()
        do throws(SourceError) {
            let value = try await ask()
            let dated = DatedAnswer(value: value, freshUntil: fresh.moment(from: clock.now))
            await keep(dated, in: storage, key, dated.freshUntil == nil ? .never : Self.staleLife, tags)
            return value
        } catch {
            let error = PipelineError.source(source, error)
            guard let kept, error.isOriginsFault else { throw error }
            logger.notice("a stale answer is used", metadata: ["key": "\(key)", "reason": "\(error)"])
            return kept.value
        }
    }

    /// How long an answer is of use when its source cannot give a newer one.
    private static let staleLife = CacheExpiration.days(30)

    /// Stores an answer. One that cannot be stored is answered all the same, and asked for again next time.
    private func keep<Value: Codable & Sendable>(
        _ value: Value, in storage: TypedStorage<JSONCached<Value>>, _ key: String, _ expiration: CacheExpiration,
        _ tags: [CacheTag]
    ) async {
        do {
            try await storage.store(JSONCached(value), forKey: key, expiration: expiration, tags: tags)
        } catch {
            logger.warning("an answer cannot be cached: \(error)", metadata: ["key": "\(key)"])
        }
    }

    private func plugin(_ name: String) throws(PipelineError) -> any ContentSource {
        guard let plugin = sources[name] else { throw .unknownSource(name, known: sources.keys.sorted()) }
        return plugin
    }

    /// A list of days gone by never changes; the newest may, until its day is two days past anywhere on earth.
    private func lifetime(of query: TitleQuery) -> CacheExpiration {
        guard let date = query.date, query.phrase == nil else { return .seconds(3600) }
        return date < CalendarDay(clock.now, secondsFromGMT: 0).adding(days: -2) ? .never : .seconds(3600)
    }
}

extension CacheTag {
    /// The lists of a source.
    package static func lists(of source: String) -> Self { Self("lists:\(source)") }
}

/// An answer, and until when its source's answer would be the same.
private struct DatedAnswer<Value: Codable & Sendable>: Codable, Sendable {
    let value: Value
    /// `nil` is for ever.
    let freshUntil: Date?

    func isFresh(at now: Date) -> Bool { freshUntil.map { now < $0 } ?? true }
}
