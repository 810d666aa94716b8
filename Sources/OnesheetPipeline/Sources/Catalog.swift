import FoundationEssentials
package import Logging
package import OnesheetCache
package import OnesheetCore
import Synchronization

/// The sources' titles and where their posters are. All questions to sources pass through here, so that each costs as few
/// calls as possible (`SourceAnswers`) and made-up questions are told apart from known titles (`Familiarity`).
package struct Catalog: Sendable {
    package let sources: [String: any ContentSource]
    private let pages: SourceAnswers<TitlePage>
    private let titles: SourceAnswers<Title>
    private let places: SourceAnswers<CandidateList>
    private let known = KnownTitles()
    private let clock: WallClock

    package init(sources: [String: any ContentSource], cache: Cache, clock: WallClock = .system, logger: Logger) {
        self.init(sources: sources, cache: cache, clock: clock, logger: logger) { _ in }
    }

    init(
        sources: [String: any ContentSource], cache: Cache, clock: WallClock, logger: Logger,
        onJoin: @escaping @Sendable (_ waiters: Int) -> Void
    ) {
        self.sources = sources
        self.clock = clock
        pages = SourceAnswers("titles", cache: cache, clock: clock, logger: logger, onJoin: onJoin)
        titles = SourceAnswers("title", cache: cache, clock: clock, logger: logger, onJoin: onJoin)
        places = SourceAnswers("candidates", cache: cache, clock: clock, logger: logger, onJoin: onJoin)
    }

    /// - Throws: `PipelineError.unknownSource` if the configuration has no such source.
    func source(_ name: String) throws(PipelineError) -> any ContentSource {
        guard let source = sources[name] else { throw .unknownSource(name, known: sources.keys.sorted()) }
        return source
    }

    /// One page of the titles of `source`.
    package func titles(of source: String, _ query: TitleQuery) async throws(PipelineError) -> TitlePage {
        let plugin = try self.source(source)
        let query = query.normalized
        if let phrase = query.phrase, phrase.utf8.count > TitleQuery.longestPhrase { return TitlePage(titles: []) }
        if let end = await end(before: query, of: source) { return end }
        let isCurrent = query.isCurrent(CalendarDay(clock.now, secondsFromGMT: 0))
        let fresh = lifetime(of: query)
        let page = try await pages.answer(
            SourceQuestion(
                key: query.key(of: source), missKey: query.missKey(of: source), source: source,
                tags: [.source(source), .lists(of: source)]),
            isListed: isCurrent || Self.isTrusted, remembers: plugin.asksService,
            worth: { $0.titles.isEmpty ? .remembering : .keeping(fresh) }
        ) { () async throws(SourceError) in try await plugin.titles(query) }
        if isCurrent { note(page, of: source) }
        return page
    }

    /// The source's data for `title`.
    package func title(_ title: TitleReference) async throws(PipelineError) -> Title {
        let plugin = try source(title.source)
        return try await titles.answer(
            question(title), isListed: await isListed(title), remembers: plugin.asksService, worth: { _ in .keeping(.days(1)) }
        ) { () async throws(SourceError) in try await plugin.title(title.id) }
    }

    /// Where the original of `title` may be, best first.
    package func candidates(for title: TitleReference) async throws(PipelineError) -> [PosterCandidate] {
        let plugin = try source(title.source)
        let asksService = plugin.asksService
        return try await places.answer(
            question(title), isListed: await isListed(title), remembers: asksService,
            worth: { list in
                guard asksService else { return .nothing }
                if list.candidates.isEmpty { return .remembering }
                return list.isPortable ? .keeping(.seconds(3600)) : .nothing
            }
        ) { () async throws(SourceError) in CandidateList(try await plugin.candidates(for: title.id)) }.candidates
    }

    /// Records that the administrator has decided about `title`, which makes it a known one.
    package func know(_ title: TitleReference) { known.note(title) }

    private func question(_ title: TitleReference) -> SourceQuestion {
        SourceQuestion(
            key: title.description, missKey: title.description, source: title.source, tags: [.source(title.source), .title(title)])
    }

    /// Whether a command or the schedule asks, and no client.
    private static var isTrusted: Bool { Familiarity.current == .known || Urgency.current == .prefetch }

    /// Whether the source lists `title`, or the administrator asks for it or did before.
    private func isListed(_ title: TitleReference) async -> Bool {
        if Self.isTrusted || known.contains(title) { return true }
        // After a start the lists that are still in the cache say which titles there are.
        if known.begin(title.source) {
            for period in TitleQuery.Period.allCases {
                if let list = await pages.kept(TitleQuery(period: period).key(of: title.source)) {
                    note(list.value, of: title.source)
                }
            }
            if known.contains(title) { return true }
        }
        if await titles.kept(title.description)?.isKnown == true { return true }
        return await places.kept(title.description)?.isKnown == true
    }

    private func note(_ page: TitlePage, of source: String) {
        for title in page.titles { known.note(TitleReference(source: source, id: title.id)) }
    }

    /// The empty page that `query` asks for where a page is kept that says that there is none behind it.
    private func end(before query: TitleQuery, of source: String) async -> TitlePage? {
        guard query.page > 1 else { return nil }
        for page in Set([1, query.page - 1]) {
            var before = query
            before.page = page
            guard let kept = await pages.kept(before.key(of: source)), kept.isFresh(at: clock.now), kept.value.next == nil else {
                continue
            }
            return TitlePage(titles: [], total: kept.value.total)
        }
        return nil
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

extension TitleQuery {
    /// A search by more bytes is answered without asking: no title's name has as many.
    package static let longestPhrase = 1000

    /// The same question in its one form: the words of a search with one space between them and none around; without words it is a list.
    var normalized: TitleQuery {
        var query = self
        let words = phrase?.split { $0.isWhitespace }.joined(separator: " ") ?? ""
        query.phrase = words.isEmpty ? nil : words
        return query
    }

    /// The text that answers are kept under. Searches that differ in upper and lower case share one.
    func key(of source: String) -> String { text(source, phrase?.lowercased()) }

    /// The text under which it is remembered that there is nothing. Services that look at the case find nothing for one spelling and
    /// something for another, so that here they stay apart.
    func missKey(of source: String) -> String { text(source, phrase) }

    private func text(_ source: String, _ phrase: String?) -> String {
        "\(source)://?\(date.map { "\($0)" } ?? "")&\(period.rawValue)&\(page)&\(phrase ?? "")"
    }

    /// Whether this is a list that a source shows by itself: its newest, or one of the last month's.
    func isCurrent(_ today: CalendarDay) -> Bool {
        guard phrase == nil, page == 1 else { return false }
        return date.map { $0 >= today.adding(days: -31) && $0 <= today.adding(days: 1) } ?? true
    }
}

/// The titles that sources have listed lately, and those that the administrator has decided about. Questions about them are not made
/// up.
private final class KnownTitles: Sendable {
    private let titles = Mutex(TwoGenerations<TitleReference, Void>(count: 16_384, weight: 4 << 20))
    private let sources = Mutex<Set<String>>([])

    func contains(_ title: TitleReference) -> Bool { titles.withLock { $0.value(for: title) != nil } }

    func note(_ title: TitleReference) { titles.withLock { $0.set((), for: title, weight: title.id.utf8.count) } }

    /// Whether this is the first time since the start that titles of `source` are asked about.
    func begin(_ source: String) -> Bool { sources.withLock { $0.insert(source).inserted } }
}
