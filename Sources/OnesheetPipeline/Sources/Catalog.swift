import FoundationEssentials
package import Logging
package import OnesheetCache
package import OnesheetCore
import Synchronization

/// The titles of all sources and their poster candidates. All calls to sources pass through this type, so that each costs as few
/// calls as possible (`SourceAnswers`) and made-up titles are distinguished from known ones (`Familiarity`).
package struct Catalog: Sendable {
    package private(set) var sources: [String: any ContentSource]
    private let pages: SourceAnswers<TitlePage>
    private let titles: SourceAnswers<Title>
    private let places: SourceAnswers<CandidateList>
    private let genres: SourceAnswers<[String: String]>
    private let services: SourceAnswers<ServiceAnswer>
    private let ids: SourceAnswers<String>
    /// What ids of other databases mean.
    package let ownIDs: OwnIDs
    private let known = KnownTitles()
    private let clock: WallClock
    /// The bytes of stored pages that are kept as values, which take a few times as much.
    private static let decodedPages = 1 << 20

    /// - Parameter memory: counts stored answers of sources while they are read.
    package init(
        sources: [String: any ContentSource], cache: Cache, counting memory: MemoryBudget, clock: WallClock = .system,
        logger: Logger
    ) {
        self.sources = sources
        self.clock = clock
        pages = SourceAnswers("titles", cache: cache, counting: memory, clock: clock, logger: logger, keeping: Self.decodedPages)
        titles = SourceAnswers("title", cache: cache, counting: memory, clock: clock, logger: logger)
        places = SourceAnswers("candidates", cache: cache, counting: memory, clock: clock, logger: logger)
        genres = SourceAnswers("genres", cache: cache, counting: memory, clock: clock, logger: logger)
        services = SourceAnswers("service", cache: cache, counting: memory, clock: clock, logger: logger)
        ids = SourceAnswers("own id", cache: cache, counting: memory, clock: clock, logger: logger)
        ownIDs = OwnIDs(memory: cache.memory, clock: clock)
    }

    /// The same catalog with these sources.
    package func with(_ sources: [String: any ContentSource]) -> Catalog {
        var catalog = self
        catalog.sources = sources
        return catalog
    }

    /// - Parameter found: the source, if the caller has found it.
    /// - Throws: `Failure.unknownSource` if the configuration has no such source.
    func source(_ name: String, found: (any ContentSource)? = nil) throws(Failure) -> any ContentSource {
        guard let source = found ?? sources[name] else { throw unknownSource(name) }
        return source
    }

    func unknownSource(_ name: String) -> Failure { .unknownSource(name, known: sources.keys.sorted()) }

    /// One page of the titles of `source`.
    /// - Parameters:
    ///   - found: the source, if the caller has found it. The other functions have the same parameters.
    ///   - asMember: whether a source asks that this one is a member of. It asks at most once a day for a title.
    package func titles(
        of source: String, _ query: TitleQuery, from found: (any ContentSource)? = nil, asMember: Bool = false
    ) async throws(Failure) -> TitlePage {
        let plugin = try self.source(source, found: found)
        let query = query.normalized
        if let list = query.list, let problem = plugin.capabilities.problem(ofList: list) {
            throw .source(source, .unsupported(problem))
        }
        if let phrase = query.phrase, phrase.utf8.count > TitleQuery.longestPhrase { return TitlePage(titles: []) }
        if let end = await end(before: query, of: source) { return end }
        let isCurrent = query.isCurrent(CalendarDay(clock.now, secondsFromGMT: 0))
        let fresh = lifetime(of: query, from: plugin, asMember: asMember)
        let page: TitlePage
        do throws(Failure) {
            page = try await pages.answer(
                SourceQuestion(
                    key: query.key(of: source), missKey: query.missKey(of: source), source: source,
                    tags: [.source(source), .lists(of: source)]),
                isListed: { [isTrusted = Self.isTrusted] in isCurrent || isTrusted }, remembers: plugin.asksService,
                missing: asMember && query.phrase != nil ? Self.day : nil,
                worth: { $0.titles.isEmpty ? .remembering : .keeping(fresh) }
            ) { () async throws(SourceError) in try await plugin.titles(query) }
        } catch {
            guard let list = query.list, query.page == 1, error.traits.contains(.isMissing) else { throw error }
            throw .noList(list, of: source)
        }
        if isCurrent { note(page, of: source) }
        return page
    }

    /// `title` with the own id of its source, if its id is that of another database. The source is asked once a day, also if it has no such
    /// title.
    package func own(_ title: TitleReference, from found: (any ContentSource)? = nil) async throws(Failure) -> TitleReference {
        let plugin = try source(title.source, found: found)
        guard plugin.isForeign(title.id) else { return title }
        let fresh = Self.lifetime(.days(1), from: plugin)
        let generation = ownIDs.generation
        let own = try await ids.answer(
            question(title), isListed: isListed(title, titles), remembers: plugin.asksService, missing: Self.day,
            worth: { _ in .keeping(fresh) }, noting: { [ownIDs] in ownIDs.note($0, for: title, at: generation) }
        ) { () async throws(SourceError) in plugin.canonicalID(try await plugin.ownID(of: title.id)) }
        return TitleReference(source: title.source, id: own)
    }

    /// The same as far as it is known. Asks nothing.
    package func knownOwn(_ title: TitleReference) async -> TitleReference {
        guard sources[title.source]?.isForeign(title.id) ?? false, let own = await ids.kept(title.description) else { return title }
        return TitleReference(source: title.source, id: own.value)
    }

    /// The source's data for `title`.
    package func title(
        _ title: TitleReference, from found: (any ContentSource)? = nil, asMember: Bool = false
    ) async throws(Failure) -> Title {
        let plugin = try source(title.source, found: found)
        let title = try await own(title, from: plugin)
        let fresh = Self.lifetime(.days(1), from: plugin)
        return try await titles.answer(
            question(title), isListed: isListed(title, places), remembers: plugin.asksService, missing: asMember ? Self.day : nil,
            worth: { _ in .keeping(fresh) }
        ) { () async throws(SourceError) in try await plugin.title(title.id) }
    }

    /// The source's data for `title`, with each text in the first of `languages` that it has it in.
    package func title(
        _ title: TitleReference, from found: (any ContentSource)? = nil, in languages: LanguageList?
    ) async throws(Failure) -> Title {
        let plugin = try source(title.source, found: found)
        var known = try await self.title(title, from: plugin)
        if let languages, plugin.capabilities.namesGenres {
            do throws(Failure) {
                known = try await genres(of: known, from: plugin, named: title.source, in: languages)
            } catch {
                // The health of the source tells of it. A title whose genres are in the source's language is better than none.
            }
        }
        return known.read(in: languages)
    }

    /// The title with its genres in the translation that `languages` prefers among those with names for all of them, and to the language that
    /// the genres have.
    private func genres(
        of title: Title, from plugin: any ContentSource, named source: String, in languages: LanguageList
    ) async throws(Failure) -> Title {
        let original = title.originalLanguage
        let present = plugin.capabilities.genreLanguage.map { languages.place(of: $0, original: original) }
        let wanted = title.translations(wantedIn: languages).prefix { language in
            title.translations[language]?.metadata[Title.genresKey] == nil
                && present.map { languages.place(of: language, original: original) < $0 } ?? true
        }
        guard !wanted.isEmpty, !title.genres.isEmpty else { return title }
        let own = try await genres(of: source, in: nil, from: plugin)
        let ids = Dictionary(own.map { ($1, $0) }) { min($0, $1) }
        let known = title.genres.compactMap { ids[$0] }
        guard known.count == title.genres.count else { return title }
        var title = title
        for language in wanted {
            let names = try await genres(of: source, in: language, from: plugin)
            let translated = known.compactMap { names[$0] }
            guard translated.count == known.count else { continue }
            title.translations[language]?.metadata[Title.genresKey] = .array(translated.map(JSONValue.string))
            break
        }
        return title
    }

    /// The names of genres of a source, at most a day old.
    func genres(
        of source: String, in language: LanguageTag?, from plugin: any ContentSource
    ) async throws(Failure) -> [String: String] {
        let key = "\(source)://?\(language?.description ?? "")"
        let fresh = Self.lifetime(.days(1), from: plugin)
        // Only translations of its titles name languages, so there are few.
        return try await genres.answer(
            SourceQuestion(key: key, missKey: key, source: source, tags: [.source(source), .answers(of: source)]),
            isListed: { true }, remembers: plugin.asksService, worth: { _ in .keeping(fresh) }
        ) { () async throws(SourceError) in try await plugin.genres(in: language) }
    }

    /// Possible places of the originals of the images of `title`, in the order of its source.
    package func candidates(
        for title: TitleReference, from found: (any ContentSource)? = nil, asMember: Bool = false
    ) async throws(Failure) -> [PosterCandidate] {
        let source = try source(title.source, found: found)
        if let named = source.candidates(namedBy: title.id) { return named }
        let title = try await own(title, from: source)
        let asksService = source.asksService
        let fresh = Self.lifetime(asMember ? .days(1) : .seconds(3600), from: source)
        return try await places.answer(
            question(title), isListed: isListed(title, titles), remembers: asksService, isKept: asksService,
            missing: asMember ? Self.day : nil,
            worth: { list in
                guard asksService else { return .nothing }
                if list.candidates.isEmpty { return .remembering }
                return list.isPortable ? .keeping(fresh) : .nothing
            }
        ) { () async throws(SourceError) in CandidateList(try await source.candidates(for: title.id)) }.candidates
    }

    /// The answer of the service behind `source` to a question of one of its clients. A refusal is remembered for minutes.
    /// - Returns: the answer, fresh for the rest of its time; for 0 seconds if it is stale, or not known to be fresh.
    package func answer(of source: String, to question: ServiceQuestion) async throws(Failure) -> ServiceAnswer {
        let plugin = try self.source(source)
        let key = Self.key(of: question, to: source)
        let freshUntil = Mutex<Date?>(nil)
        var answer = try await services.answer(
            SourceQuestion(key: key, missKey: key, source: source, tags: [.source(source), .answers(of: source)]),
            isListed: { [isTrusted = Self.isTrusted] in isTrusted }, remembers: plugin.asksService,
            worth: { $0.status == 200 ? .keeping(.seconds($0.fresh)) : .remembering },
            noting: { dated in freshUntil.withLock { $0 = dated.freshUntil } }
        ) { () async throws(SourceError) in
            try await plugin.answer(to: question.knowing(await services.kept(key)?.value))
        }
        answer.fresh = max(0, freshUntil.withLock { $0 }?.timeIntervalSince(clock.now) ?? 0)
        return answer
    }

    /// The cached answer to `question`, if it is fresh.
    func freshAnswer(of source: String, to question: ServiceQuestion) async -> ServiceAnswer? {
        let kept = await services.kept(Self.key(of: question, to: source))
        return kept.flatMap { $0.isFresh(at: clock.now) ? $0.value : nil }
    }

    private static func key(of question: ServiceQuestion, to source: String) -> String { "\(source)://?\(question.target)" }

    /// The cached answers of a source about `title`, as old as they are. Asks nothing.
    func kept(_ title: TitleReference) async -> (candidates: [PosterCandidate]?, title: Title?) {
        (await places.kept(title.description)?.value.candidates, await titles.kept(title.description)?.value)
    }

    /// Records that the administrator has decided about `title`, which makes it known.
    package func know(_ title: TitleReference) { known.note(title) }

    /// Whether `title` is listed, or its source can be asked without a call to a service.
    func mayHave(_ title: TitleReference, from source: any ContentSource) -> Bool {
        !source.asksService || known.contains(title)
    }

    private func question(_ title: TitleReference) -> SourceQuestion {
        SourceQuestion(
            key: title.description, missKey: title.description, source: title.source,
            tags: [.source(title.source), .title(title), .answers(of: title.source)])
    }

    /// Whether a command or the schedule is the caller, and not a client.
    private static var isTrusted: Bool { Familiarity.current == .known || Urgency.current == .prefetch }

    /// Tells whether the source lists `title`, or the administrator asks for it or did before.
    /// - Parameter others: the answers of the other kind about titles, which may know it.
    private func isListed<Other: Codable & Sendable>(
        _ title: TitleReference, _ others: SourceAnswers<Other>
    ) -> @Sendable () async -> Bool {
        let isTrusted = Self.isTrusted
        return {
            if isTrusted || known.contains(title) { return true }
            // After a start, the lists in the cache show which titles exist.
            if known.begin(title.source) {
                for period in TitleQuery.Period.allCases {
                    if let list = await pages.kept(TitleQuery(period: period).key(of: title.source)) {
                        note(list.value, of: title.source)
                    }
                }
                if known.contains(title) { return true }
            }
            return await others.kept(title.description)?.isKnown == true
        }
    }

    private func note(_ page: TitlePage, of source: String) {
        for title in page.titles { known.note(TitleReference(source: source, id: title.id)) }
    }

    /// The empty page for `query`, if a stored page shows that there is no page behind it.
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

    /// A list of past days never changes. The newest may change until its day is two days past everywhere on earth.
    private func lifetime(of query: TitleQuery, from source: any ContentSource, asMember: Bool) -> CacheExpiration {
        let isPast = query.date.map { $0 < CalendarDay(clock.now, secondsFromGMT: 0).adding(days: -2) } ?? false
        let isSearch = query.phrase != nil
        return Self.lifetime(isPast && !isSearch ? .never : asMember && isSearch ? .days(1) : .seconds(3600), from: source)
    }

    /// The seconds for which it is remembered that a member does not have a title.
    private static let day = 86_400.0

    /// What is made of other sources' answers is made again for each question, because each of these has a lifetime of its own. It is stored
    /// all the same: `explain` reads it, and it shows after a restart which titles are known.
    private static func lifetime(_ lifetime: CacheExpiration, from source: any ContentSource) -> CacheExpiration {
        source.members.isEmpty ? lifetime : .seconds(0)
    }
}

extension TitleQuery {
    /// A longer search gets an empty answer without a call: no title has so long a name.
    package static let longestPhrase = 1000

    /// The canonical form of a query: single spaces between the words of a search and none around them; a query without words asks
    /// for a list.
    var normalized: TitleQuery {
        var query = self
        let words = phrase?.split { $0.isWhitespace }.joined(separator: " ") ?? ""
        query.phrase = words.isEmpty ? nil : words
        return query
    }

    /// The cache key of the answer. Searches that differ only in the case of ASCII letters share one. Other letters can have the lower case
    /// of ASCII ones, such as the Kelvin sign.
    func key(of source: String) -> String { text(source, phrase?.lowercasedASCII()) }

    /// The key under which a missing answer is remembered. It keeps the case, because some services find titles for one spelling
    /// only.
    func missKey(of source: String) -> String { text(source, phrase) }

    private func text(_ source: String, _ phrase: String?) -> String {
        // No day is written like a name.
        "\(source)://?\(date.map { "\($0)" } ?? list.map { "list=\(PercentEncoding.encode($0))" } ?? "")&\(period.rawValue)&\(page)&\(phrase ?? "")"
    }

    /// Whether this is a list that the server itself shows: the newest, or one of the last month.
    func isCurrent(_ today: CalendarDay) -> Bool {
        guard phrase == nil, page == 1 else { return false }
        return date.map { $0 >= today.adding(days: -31) && $0 <= today.adding(days: 1) } ?? true
    }
}

/// The titles that sources have listed lately, and those that the administrator has decided about. Questions about them are not
/// made up.
private final class KnownTitles: Sendable {
    private let titles = Mutex(SegmentedCache<TitleReference, Void>(count: 16_384, weight: 4 << 20))
    private let sources = Mutex<Set<String>>([])

    func contains(_ title: TitleReference) -> Bool { titles.withLock { $0.value(for: title) != nil } }

    func note(_ title: TitleReference) { titles.withLock { $0.set((), for: title, weight: title.id.utf8.count) } }

    /// Whether this is the first question about titles of `source` since the start.
    func begin(_ source: String) -> Bool { sources.withLock { $0.insert(source).inserted } }
}

extension Failure {
    /// The service has no list of this name. The answer of the source is remembered.
    fileprivate static func noList(_ name: String, of source: String) -> Failure {
        Failure(
            blame: .request, status: .notFound, title: "Not found",
            message: "source \(source): there is no list “\(name.shortened(to: 64))”", traits: .isMissing)
    }
}

/// A title's candidates in the form in which they are cached: only those with a URL. Local originals of a source are not cached.
struct CandidateList: Codable, Sendable {
    let candidates: [PosterCandidate]

    init(_ candidates: [PosterCandidate]) { self.candidates = candidates }

    /// Whether all candidates can be cached.
    var isPortable: Bool {
        candidates.allSatisfy {
            if case .http = $0.location { true } else { false }
        }
    }

    private struct Record: Codable {
        let candidate: PosterCandidate

        private enum CodingKeys: CodingKey { case url, trust }

        init(_ candidate: PosterCandidate) { self.candidate = candidate }

        init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            candidate = PosterCandidate(
                .http(url: try keys.decode(String.self, forKey: .url)), facts: try CandidateFacts(from: decoder),
                trust: try keys.decodeIfPresent(Double.self, forKey: .trust))
        }

        func encode(to encoder: any Encoder) throws {
            try candidate.facts.encode(to: encoder)
            var keys = encoder.container(keyedBy: CodingKeys.self)
            try keys.encode(candidate.location.name, forKey: .url)
            try keys.encodeIfPresent(candidate.trust, forKey: .trust)
        }
    }

    init(from decoder: any Decoder) throws { candidates = try [Record](from: decoder).map(\.candidate) }

    func encode(to encoder: any Encoder) throws { try candidates.map(Record.init).encode(to: encoder) }
}
