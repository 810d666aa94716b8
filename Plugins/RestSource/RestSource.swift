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
        originPolicy = configuration.http.policy()
        client = RestClient(
            context: context, manifest: manifest, variables: configuration.variables,
            baseURL: try configuration.http.address(orElse: manifest.baseURL), policy: configuration.http.answerPolicy())
        try manifest.check(given: client.variables)
    }

    public var capabilities: SourceCapabilities {
        let periods = TitleQuery.Period.allCases.filter { manifest.list(by: $0) != nil }
        guard let dates = manifest.dates, !periods.isEmpty else {
            return SourceCapabilities(hasLists: !periods.isEmpty, searches: manifest.search != nil)
        }
        return SourceCapabilities(
            periods: periods, firstDay: dates.first, lastDay: newestDay(of: dates), searches: manifest.search != nil)
    }

    public func quotas() async -> [QuotaReport] { manifest.quota == nil ? [] : [await client.quota.report()] }

    private func newestDay(of dates: Manifest.Dates) -> CalendarDay {
        CalendarDay(client.context.clock.now, secondsFromGMT: dates.timeZone?.seconds ?? 0).adding(days: dates.newest)
    }

    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        if let phrase = query.phrase {
            guard let search = manifest.search else { throw .unsupported("a search") }
            return try await page(search, ["query": phrase], number: query.page)
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

    private func page(
        _ request: Manifest.ListRequest, _ values: [String: String], number page: Int
    ) async throws(SourceError) -> TitlePage {
        let isPaged = request.get.names.contains("page")
        let lastPage = request.lastPage ?? AnswerCheck.lastPage
        guard (isPaged && (1...lastPage).contains(page)) || page == 1 else { return TitlePage(titles: []) }
        let document = try await client.get(request.get, values.merging(["page": String(page)]) { own, _ in own }, id: nil)
        let titles = try readable(request.items, in: document) { item throws(SourceError) in try request.fields.title(item) }
        let total = request.total?.value(in: document)?.plainText.flatMap { Int($0) }
        let pages = request.pages?.value(in: document)?.plainText.flatMap { Int($0) }
        let isLast =
            pages.map { page >= $0 } ?? total.flatMap { total in request.perPage.map { page > (max(total, 1) - 1) / $0 } } ?? true
        return TitlePage(
            titles: titles, total: total ?? (isPaged ? nil : titles.count),
            next: isPaged && !isLast && !titles.isEmpty && page < lastPage ? page + 1 : nil)
    }

    public func title(_ id: String) async throws(SourceError) -> Title {
        let document = try await client.get(manifest.title.get, ["id": try Self.checked(id)], id: id)
        guard let item = manifest.title.item.map({ $0.value(in: document) }) ?? document else { throw .notFound(id: id) }
        guard let title = try manifest.title.fields.title(item), title.id.isExactly(id) else {
            // Services return an object without an id if there is no such title. Any other value is not a title.
            if case .object(let members) = item, !members.isEmpty || manifest.title.item != nil { throw .notFound(id: id) }
            throw .malformedAnswer(reason: "there is no title in the service's answer")
        }
        return title
    }

    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let request = manifest.candidates
        var values = ["id": try Self.checked(id)]
        if request.needsName { values["name"] = try await title(id).name }
        let known = client.variables.merging(values) { _, own in own }
        for (name, phrase) in request.with ?? [:] { values[name] = phrase.filled(known) }
        let document = try await client.get(request.get, values, headers: request.headers, id: id)
        var hits: [PosterScore.Hit] = []
        let isOne = request.items.places.count == 1
        for (kind, list) in request.items.places where isOne || list.value(in: document) != nil {
            hits += try readable(list, in: document) { item throws(SourceError) -> PosterScore.Hit? in
                try request.fields.candidate(item, known, kind: kind).map { ($0.0, $0.siteKind) }
            }
        }
        if hits.isEmpty, !isOne, !request.items.places.contains(where: { $0.list.value(in: document) != nil }) {
            let places = request.items.places.map(\.list.text).joined(separator: ", ")
            throw .malformedAnswer(reason: "there is no list at any of \(places) in the service's answer")
        }
        if request.order == .likeness { return PosterScore().ranked(hits) }
        var seen: Set<ExactText> = []
        return hits.map(\.candidate).filter { seen.insert(ExactText($0.location.name)).inserted }
    }

    /// What `read` makes of the members of a list. Those that it cannot read are missing, unless it can read none.
    private func readable<Element>(
        _ pointer: JSONPointer, in document: JSONValue, _ read: (JSONValue) throws(SourceError) -> Element?
    ) throws(SourceError) -> [Element] {
        guard case .array(let items)? = pointer.value(in: document) else {
            throw .malformedAnswer(reason: "there is no list at “\(pointer.text)” in the service's answer")
        }
        var (elements, damage) = ([Element](), [SourceError]())
        for item in items {
            do throws(SourceError) {
                if let element = try read(item) { elements.append(element) }
            } catch {
                damage.append(error)
            }
        }
        if elements.isEmpty, let first = damage.first { throw first }
        client.context.warn(ofMissing: damage.map(\.description), in: "the list at “\(pointer.text)”")
        return elements
    }

    /// Path segments that input must not contain.
    private static func checked(_ id: String) throws(SourceError) -> String {
        guard !id.isEmpty, id != ".", id != "..", id.utf8.count <= 1000, !id.utf8.contains(0) else { throw .notFound(id: id) }
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
        timeout: 10s
        # The size limit for one response of the service; a larger one is refused before parsing.
        answerBytes: 8MiB
        # Requests per second.
        rate: 20
        """
}
