public import OnesheetCore

/// The Korean box office by KOBIS, with posters from a search. A title's id is the film's code, such as `20124079`.
public struct BoxOfficeSource: SourcePlugin {
    public static let type = "boxoffice"

    /// The first day with lists at KOBIS: 2003-11-11.
    private static let firstDay = CalendarDay("20031111")
    private static let perPage = 20

    private let client: KOBISClient
    private let posters: any ContentSource
    private let names = RecentNames()

    /// - Throws: `ConfigurationError` if the key is empty, `baseURL` is not a URL, or `posters` is invalid.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        guard !configuration.key.isEmpty else {
            throw ConfigurationError(path: "key", message: "is empty; it is the key from kobis.or.kr")
        }
        client = KOBISClient(
            context: context, key: configuration.key,
            baseURL: try configuration.http.address(orElse: "https://www.kobis.or.kr/kobisopenapi/webservice/rest"),
            policy: configuration.http.answerPolicy(), quota: configuration.quota)
        posters = try context.source(configuration.posters)
    }

    /// The policy for pictures, which never come from KOBIS.
    public var originPolicy: OriginPolicy { posters.originPolicy }

    public var capabilities: SourceCapabilities {
        SourceCapabilities(
            periods: TitleQuery.Period.allCases, firstDay: Self.firstDay, lastDay: client.newestDay,
            ids: [DatabaseIDs("kobis")])
    }

    /// The quotas of KOBIS and of the poster source.
    public func quotas() async -> [QuotaReport] { [await client.quota.report()] + (await posters.quotas()) }

    /// If the poster source reports changed pictures, as a folder does, this source cannot tell which films they belong to.
    public func changes() async throws(SourceError) -> TitleChanges? {
        guard let changes = try await posters.changes() else { return nil }
        return changes == .none ? TitleChanges.none : .all
    }

    public func shutdown() async { await posters.shutdown() }

    /// The list of a day or week, or the films whose name contains the phrase.
    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        if let phrase = query.phrase?.trimmed, !phrase.isEmpty {
            // KOBIS has far fewer pages. A larger number would overflow.
            guard (1...1_000_000).contains(query.page) else { return TitlePage(titles: []) }
            let found = try await client.search(phrase, page: query.page, perPage: Self.perPage)
            names.remember(found.movies.map { ($0.code, $0.name) })
            let isLast = query.page * Self.perPage >= found.total || found.movies.isEmpty
            return TitlePage(titles: found.movies.map(Title.init), total: found.total, next: isLast ? nil : query.page + 1)
        }
        guard query.page == 1 else { return TitlePage(titles: []) }
        let rows = try await list(query.date, query.period).rows
        return TitlePage(titles: rows.map(Title.init), total: rows.count)
    }

    /// A list from KOBIS with typed values.
    /// - Parameters:
    ///   - day: `nil` is the newest; days before the first and after the newest have empty lists.
    ///   - period: the list of the day, or that of the week of the day.
    public func list(_ day: CalendarDay? = nil, _ period: TitleQuery.Period = .day) async throws(SourceError) -> BoxOfficeList {
        let newest = client.newestDay
        let day = day ?? period.lastComplete(until: newest)
        guard day <= newest, Self.firstDay.map({ $0 <= day }) ?? true else {
            // A call without a possible result would waste a part of the daily quota.
            return BoxOfficeList(kind: "", range: "\(day.compact)~\(day.compact)", week: nil, rows: [])
        }
        let list = period == .day ? try await client.daily(day) : try await client.weekly(day, period)
        names.remember(list.rows.map { ($0.code, $0.name) })
        return list
    }

    public func title(_ id: String) async throws(SourceError) -> Title { Title(try await info(id)) }

    /// All data of KOBIS about a film, with typed values.
    public func info(_ code: String) async throws(SourceError) -> MovieInfo {
        guard Self.isCode(code), let info = try await client.info(code), info.code.isExactly(code) else {
            throw .notFound(id: code)
        }
        names.remember([(info.code, info.name)])
        return info
    }

    /// The results of the poster search for the film's name; empty if there are none.
    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let name: String
        if let known = names[id] { name = known } else { name = try await info(id).name }
        let phrase = "\(name) 포스터"
        do {
            return try await posters.candidates(for: phrase)
        } catch .notFound(phrase) {
            return []
        } catch {
            throw error
        }
    }

    /// Codes are digits, some with a letter (“2023C168”). Other ids are not worth a call.
    private static func isCode(_ id: String) -> Bool {
        (1...20).contains(id.utf8.count) && id.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }
}

extension BoxOfficeSource {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The key from kobis.or.kr.
        public var key: String
        /// The source of posters. It returns candidates for a phrase.
        public var posters: NestedSource
        /// The daily quota of KOBIS.
        public var quota: QuotaSettings
        public var http: HTTPSettings

        private enum CodingKeys: CodingKey { case key, posters, quota }

        public init(
            key: String, posters: NestedSource, quota: QuotaSettings = QuotaSettings(perDay: 3000),
            http: HTTPSettings = HTTPSettings()
        ) {
            self.key = key
            self.posters = posters
            self.quota = quota
            self.http = http
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            // Required keys come last, so that errors in the others are told if one is missing.
            http = try HTTPSettings(from: decoder)
            quota = try container.decodeIfPresent(QuotaSettings.self, forKey: .quota) ?? QuotaSettings(perDay: 3000)
            key = try container.decode(String.self, forKey: .key)
            posters = try container.decode(NestedSource.self, forKey: .posters)
        }
    }

    public static let sampleConfiguration = """
        type: boxoffice
        # The key from kobis.or.kr.
        key: "${KOBIS_KEY}"
        # The source of posters, because KOBIS has none: any source that returns candidates for a phrase such as “광해 포스터”.
        posters: { type: kakao, key: "${KAKAO_KEY}" }
        # A base URL instead of https://www.kobis.or.kr/kobisopenapi/webservice/rest, for a mirror or a test.
        # baseURL: http://127.0.0.1:9090/kobis
        # Allowed addresses of connections to KOBIS; those for pictures are in “posters”.
        networks: [public]
        timeout: 10s
        # Requests per second.
        rate: 5
        # The daily quota of calls; the share that prefetching leaves to visitors; and the share for searches and unlisted ids, a
        # quarter of it at once; 1 is no limit.
        quota: { perDay: 3000, reserve: 0.1, unknown: 0.5 }
        """
}
