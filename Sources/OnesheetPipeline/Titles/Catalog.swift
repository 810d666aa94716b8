package import Logging
package import OnesheetCache
package import OnesheetCore

/// The sources' titles, each answer kept in the cache for as long as it holds.
package struct Catalog: Sendable {
    package let sources: [String: any ContentSource]
    private let pages: TypedStorage<JSONCached<TitlePage>>
    private let titles: TypedStorage<JSONCached<Title>>
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
        let key = "\(source)?\(query.date.map { "\($0)" } ?? "")&\(query.period.rawValue)&\(query.page)&\(query.phrase ?? "")"
        if let page = await pages.value(forKey: key) { return page.value }
        let page: TitlePage
        do throws(SourceError) { page = try await plugin.titles(query) } catch { throw .source(source, error) }
        await keep(page, in: pages, key, lifetime(of: query), [.source(source)])
        return page
    }

    /// All that its source knows about `title`.
    package func title(_ title: TitleReference) async throws(PipelineError) -> Title {
        let plugin = try plugin(title.source)
        let key = title.description
        if let known = await titles.value(forKey: key) { return known.value }
        let found: Title
        do throws(SourceError) { found = try await plugin.title(title.id) } catch { throw .source(title.source, error) }
        await keep(found, in: titles, key, .days(1), [.source(title.source), .title(title)])
        return found
    }

    /// Where the original of `title` may be, best first.
    package func candidates(for title: TitleReference) async throws(PipelineError) -> [PosterCandidate] {
        let plugin = try plugin(title.source)
        do throws(SourceError) { return try await plugin.candidates(for: title.id) } catch { throw .source(title.source, error) }
    }

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
