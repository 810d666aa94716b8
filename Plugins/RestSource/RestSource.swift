internal import FoundationEssentials
public import OnesheetCore

/// A source that a manifest describes: an HTTP API with JSON responses, without Swift code.
public struct RestSource: SourcePlugin {
    public static let type = "rest"

    public let originPolicy: OriginPolicy
    private let manifest: Manifest
    private let client: RestClient

    /// - Throws: `ConfigurationError` if the manifest is missing or uses an undefined variable.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        // Also if it cannot be used, so that the server notices its correction.
        if let name = configuration.manifest, Manifest.isFile(name) { context.reads(name) }
        manifest = try configuration.resolved()
        var images = configuration.http.policy()
        if configuration.http.freshness == nil, let own = manifest.freshness { images.freshness = own }
        originPolicy = images
        var policy = configuration.http.answerPolicy()
        // The service's rate is for its documents. Its pictures mostly come from elsewhere.
        policy.rate = policy.rate ?? manifest.rate
        let (baseURL, variables) = try configuration.base(of: manifest)
        client = RestClient(context: context, manifest: manifest, variables: variables, baseURL: baseURL, policy: policy)
        try manifest.check(given: client.variables, named: configuration.manifest.flatMap { Manifest.isFile($0) ? nil : $0 })
    }

    public var capabilities: SourceCapabilities {
        let periods = TitleQuery.Period.allCases.filter { manifest.list(by: $0) != nil }
        var capabilities = SourceCapabilities(
            hasLists: !periods.isEmpty, lists: lists, searches: manifest.search != nil, ids: ids,
            namesGenres: manifest.genres != nil, genreLanguage: client.variables[Manifest.language].flatMap { LanguageTag($0) })
        if let dates = manifest.dates, !periods.isEmpty {
            (capabilities.periods, capabilities.firstDay, capabilities.lastDay) = (periods, dates.first, newestDay(of: dates))
        }
        return capabilities
    }

    private var lists: [String] { manifest.lists?.names ?? [] }

    private var ids: [DatabaseIDs] { (manifest.ids ?? []).map(\.ids) }

    public func quotas() async -> [QuotaReport] { manifest.quota == nil ? [] : [await client.quota.report()] }

    private func newestDay(of dates: Manifest.Dates) -> CalendarDay {
        CalendarDay(client.context.clock.now, secondsFromGMT: dates.timeZone?.seconds ?? 0).adding(days: dates.newest)
    }

    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        if let phrase = query.phrase {
            guard let search = manifest.search else { throw .unsupported("a search") }
            return try await page(search, ["query": phrase], number: query.page)
        }
        if let name = query.list {
            guard let (list, values) = manifest.lists?.list(name) else {
                throw .unsupported(unknownName(name.shortened(to: 64), kind: "list", known: lists))
            }
            // The service has a fixed list, but not that of every name of a form.
            return try await page(list, values, number: query.page, of: values.isEmpty ? nil : name)
        }
        guard let list = manifest.list(by: query.period) else {
            throw .unsupported(query.period == .day ? "a list" : "lists by \(query.period.rawValue)")
        }
        guard let dates = manifest.dates else {
            guard query.date == nil else { throw .unsupported("lists by day") }
            return try await page(list, [:], number: query.page)
        }
        let newest = newestDay(of: dates)
        let day = query.date ?? query.period.lastComplete(until: newest)
        guard day <= newest, dates.first.map({ $0 <= day }) ?? true else { return TitlePage(titles: []) }
        return try await page(list, ["date": day.description, "day": day.compact], number: query.page)
    }

    /// - Parameter name: that of a list which the service may not have.
    private func page(
        _ list: ListRequest, _ values: [String: String], number page: Int, of name: String? = nil
    ) async throws(SourceError) -> TitlePage {
        let lastPage = list.lastPage ?? AnswerCheck.lastPage
        guard (list.isPaged && (1...lastPage).contains(page)) || page == 1, let counted = list.values(ofPage: page) else {
            return TitlePage(titles: [])
        }
        let answer: RestAnswer
        do throws(SourceError) {
            answer = try await client.ask(list.request, values.merging(counted) { own, _ in own }, id: name)
        } catch .notFound where name == nil || page > 1 {
            return TitlePage(titles: [])
        }
        let facts = client.facts(values)
        let titles = try readable(list.items, in: answer.document, facts) { item throws(SourceError) in
            try list.fields.title(item, facts)
        }
        let total = list.total?.value(in: answer)
        return TitlePage(
            titles: titles, total: total ?? (list.isPaged ? nil : titles.count),
            next: list.isPaged && !titles.isEmpty && page < lastPage && list.hasPage(after: page, answer) ? page + 1 : nil)
    }

    public func title(_ id: String) async throws(SourceError) -> Title {
        let route = try await route(of: id)
        guard let request = route.title else {
            guard manifest.listsTitles else { throw .notFound(id: id) }
            return try await listed(id)
        }
        let answer = try await client.ask(request.request, route.values, id: id)
        var title = try found(request, in: answer.document, route)
        // The title of another database's id is that of the id which was asked for.
        title.id = id
        return title
    }

    private func found(_ request: TitleRequest, in document: JSONValue, _ route: Route) throws(SourceError) -> Title {
        let facts = client.facts(route.values)
        if let items = request.items {
            let titles = try readable(items, in: document, facts) { item throws(SourceError) in
                try request.fields.title(item, facts)
            }
            guard let title = titles.first(where: { $0.id.isExactly(route.id) }) else { throw .notFound(id: route.asked) }
            return title
        }
        guard let item = request.item.map({ $0.value(in: document) }) ?? document else { throw .notFound(id: route.asked) }
        guard let title = try request.fields.title(item, facts), title.id.isExactly(route.id) else {
            // Services return an object without an id if there is no such title. Any other value is not a title.
            if case .object(let members) = item, !members.isEmpty || request.item != nil { throw .notFound(id: route.asked) }
            throw .malformedAnswer(reason: "there is no title in the service's answer")
        }
        return title
    }

    /// The title in the list, for a service that has no request for one.
    private func listed(_ id: String) async throws(SourceError) -> Title {
        guard let list = manifest.list else { throw .unsupported("a title") }
        var number: Int? = 1
        for _ in 0..<Self.searchedPages {
            guard let current = number else { break }
            let page = try await page(list, [:], number: current)
            if let title = page.titles.first(where: { $0.id.isExactly(id) }) { return title }
            number = page.next
        }
        throw .notFound(id: id)
    }

    /// The pages of a list in which a title is looked for.
    private static let searchedPages = 20

    public func genres(in language: LanguageTag?) async throws(SourceError) -> [String: String] {
        var values: [String: String] = [:]
        if let language { values[Manifest.language] = manifest.written(language) }
        let facts = client.facts(values)
        var names: [String: String] = [:]
        for list in manifest.genres?.all ?? [] {
            let answer = try await client.ask(list.request, values, id: nil)
            let genres = try readable(list.items, in: answer.document, facts) { item throws(SourceError) -> [String: String]? in
                // In a language that a service does not have, some have genres without names.
                guard let id = try list.id.text(in: item, facts), let name = try list.name.text(in: item, facts) else { return nil }
                return [id: name]
            }
            for genre in genres { names.merge(genre) { first, _ in first } }
        }
        return names
    }

    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let route = try await route(of: id)
        guard let request = route.candidates else { throw .notFound(id: id) }
        var values = route.values
        if request.needsName { values["name"] = try await title(id).name }
        let known = client.facts(values)
        for (name, phrase) in request.with ?? [:] { values[name] = phrase.filled(known.variables) }
        let answer = try await client.ask(request.request, values, id: id)
        let hits = try request.items.read(in: answer.document, known, warn: { warn($0, request.items.text) }) {
            item, kind throws(SourceError) in
            try request.fields.candidate(item, known, kind: kind)
        }
        if request.order == .likeness { return PosterScore().ranked(hits) }
        var seen: Set<ExactText> = []
        return hits.map(\.candidate).filter { seen.insert(ExactText($0.location.name)).inserted }
    }

    public func candidates(namedBy id: String) -> [PosterCandidate]? {
        guard let files = manifest.files, files.has(id) else { return nil }
        return [PosterCandidate(.http(url: files.url.filled(client.facts(["file": id]).variables)))]
    }

    public func isForeign(_ id: String) -> Bool { match(id) { $0.resolve != nil } != nil }

    public func ownID(of asked: String) async throws(SourceError) -> String {
        let id = try Self.checked(asked)
        guard let (form, values) = match(id, where: { $0.resolve != nil }), let resolve = form.resolve else { return id }
        let known = values.merging(["id": id]) { $1 }
        let answer = try await client.ask(resolve.request, known, id: id)
        guard let own = try resolve.id.text(in: answer.document, client.facts(known)) else { throw .notFound(id: asked) }
        return try Self.checked(own)
    }

    public func answer(to question: ServiceQuestion) async throws(SourceError) -> ServiceAnswer {
        try await client.answer(to: question)
    }

    private func readable<Element>(
        _ items: Items, in document: JSONValue, _ facts: Facts, _ read: (JSONValue) throws(SourceError) -> Element?
    ) throws(SourceError) -> [Element] {
        try items.read(in: document, facts, warn: { warn($0, items.at.text) }, read)
    }

    private func warn(_ damage: [String], _ places: String) {
        client.context.warn(ofMissing: damage, in: "the list at “\(places)”")
    }

    /// How a title is requested.
    private struct Route {
        /// The id of the caller.
        let asked: String
        /// The source's own id.
        let id: String
        /// The variables of the id.
        let values: [String: String]
        let title: TitleRequest?
        let candidates: CandidatesRequest?
    }

    /// The requests for an id of this form, also that of another database.
    private func route(of asked: String) async throws(SourceError) -> Route {
        let id = try await ownID(of: asked)
        // A path that is not that of a file is no id either.
        guard manifest.files == nil || id.utf8.first != UInt8(ascii: "/") else { throw .notFound(id: asked) }
        let match = match(id) { $0.resolve == nil }
        return Route(
            asked: asked, id: id, values: (match?.values ?? [:]).merging(["id": id]) { $1 },
            title: match?.form.title ?? manifest.title, candidates: match?.form.candidates ?? manifest.candidates)
    }

    private func match(_ id: String, where isWanted: (Case) -> Bool) -> (form: Case, values: [String: String])? {
        for form in manifest.cases ?? [] where isWanted(form) {
            if let values = form.id.values(of: id) { return (form, values) }
        }
        return nil
    }

    /// Path segments that input must not contain.
    private static func checked(_ id: String) throws(SourceError) -> String {
        guard !id.isEmpty, id.utf8.count <= 1000, !id.utf8.contains(0) else { throw .notFound(id: id) }
        // A proxy before the service may read an encoded slash as one.
        guard !id.pieces(at: "/", omittingEmptySubsequences: false).contains(where: { $0 == "." || $0 == ".." }) else {
            throw .notFound(id: id)
        }
        return id
    }
}

extension RestSource {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The name of a built-in manifest, or a file.
        var manifest: String?
        /// An inline manifest.
        var api: Manifest?
        /// Values of the manifest's variables.
        var variables: [String: String]
        var http: HTTPSettings

        private enum CodingKeys: CodingKey { case manifest, api, variables }

        public init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            manifest = try keys.decodeIfPresent(String.self, forKey: .manifest)
            api = try keys.decodeIfPresent(Manifest.self, forKey: .api)
            variables = try keys.decodeIfPresent([String: String].self, forKey: .variables) ?? [:]
            http = try HTTPSettings(from: decoder)
        }

        /// The base URL of a manifest, and the variables. One whose server everyone has for himself has its base URL in a variable, and then
        /// `baseURL` is that variable.
        func base(of manifest: Manifest) throws(ConfigurationError) -> (url: String, variables: [String: String]) {
            guard let name = manifest.baseVariable else { return (try http.address(orElse: manifest.baseURL), variables) }
            guard http.baseURL == nil || variables[name] == nil else {
                throw ConfigurationError(path: "baseURL", message: "is “variables.\(name)” here; give one of them")
            }
            var settings = http
            settings.baseURL = http.baseURL ?? variables[name]
            do throws(ConfigurationError) {
                let url = try settings.address(orElse: manifest.defaults?[name] ?? "")
                return (url, variables.merging([name: url]) { $1 })
            } catch {
                throw http.baseURL == nil ? ConfigurationError(path: "variables.\(name)", message: error.message) : error
            }
        }

        /// The manifest, from either key.
        /// - Throws: `ConfigurationError` if there is none or it is invalid.
        func resolved() throws(ConfigurationError) -> Manifest {
            switch (manifest, api) {
            case (let name?, nil): return try Manifest.named(name)
            case (nil, let api?): return api
            default:
                throw ConfigurationError(
                    path: "manifest", message: "needs either a “manifest” by name or file, or its keys under “api”")
            }
        }
    }

    public static let sampleConfiguration = """
        type: rest
        # A built-in manifest (tmdb, kobis-kakao), or a file. Alternatively, its keys inline under “api”.
        manifest: tmdb
        # Values of the manifest's variables.
        variables: { token: "${TMDB_TOKEN}", language: ko-KR }
        # A base URL instead of the manifest's, for a mirror or a test.
        # baseURL: http://127.0.0.1:9090/tmdb
        # Allowed addresses of connections to the service and to picture hosts.
        networks: [public]
        # The proxy of all these requests, which looks up the names of hosts; or socks5://proxy.example:1080.
        # proxy: http://user:password@proxy.example:3128
        timeout: 10s
        # The size limit for one response of the service; a larger one is refused before parsing.
        answerBytes: 8MiB
        # Requests per second.
        rate: 20
        """
}
