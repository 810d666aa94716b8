public import OnesheetCore

/// Poster search with Kakao (Daum). A title's id is the phrase to search for, such as “광해 포스터”.
public struct KakaoSource: SourcePlugin {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The application's REST API key.
        public var key: String
        /// Searches per day.
        public var quota: QuotaSettings
        public var http: HTTPSettings

        private enum CodingKeys: CodingKey { case key, quota }

        public init(key: String, quota: QuotaSettings = QuotaSettings(perDay: 30_000), http: HTTPSettings = HTTPSettings()) {
            self.key = key
            self.quota = quota
            self.http = http
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            // Required keys come last, so that errors in the others are told if one is missing.
            http = try HTTPSettings(from: decoder)
            quota = try container.decodeIfPresent(QuotaSettings.self, forKey: .quota) ?? QuotaSettings(perDay: 30_000)
            key = try container.decode(String.self, forKey: .key)
        }
    }

    public static let type = "kakao"

    public static let sampleConfiguration = """
        type: kakao
        # The REST API key of an application at developers.kakao.com.
        key: "${KAKAO_KEY}"
        # A base URL instead of https://dapi.kakao.com, for a mirror or a test.
        # baseURL: http://127.0.0.1:9090/kakao
        # Allowed addresses of connections to the search and to picture hosts.
        networks: [public]
        # Headers of every request, including those for pictures.
        headers: { User-Agent: "onesheet" }
        timeout: 10s
        # Requests per second.
        rate: 10
        # The size limit for one response of the search; a larger one is refused before parsing.
        answerBytes: 8MiB
        # The daily quota of searches. `reserve` is the share that prefetching leaves to visitors. `unknown` is the share for searches
        # that were neither prefetched nor decided on; a burst may use a quarter of it, and 1 means no limit.
        quota: { perDay: 30000, reserve: 0.1, unknown: 0.5 }
        """

    /// The number of results to rank. One call returns them all.
    private static let hits = 30

    /// Pictures may be anywhere.
    public let originPolicy: OriginPolicy
    private let search: KakaoSearch

    /// - Throws: `ConfigurationError` if the key is empty or `baseURL` is not a URL.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        guard !configuration.key.isEmpty else {
            throw ConfigurationError(path: "key", message: "is empty; it is the REST API key from developers.kakao.com")
        }
        let baseURL = try configuration.http.address(orElse: "https://dapi.kakao.com")
        originPolicy = configuration.http.policy()
        search = KakaoSearch(
            context: context, key: configuration.key, baseURL: baseURL, policy: configuration.http.answerPolicy(),
            quota: configuration.quota)
    }

    public var capabilities: SourceCapabilities { SourceCapabilities(hasLists: false, searches: false) }

    public func quotas() async -> [QuotaReport] { [await search.quota.report()] }

    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        throw .unsupported("a poster search has no lists")
    }

    /// The phrase as a title.
    public func title(_ id: String) async throws(SourceError) -> Title {
        Title(id: try phrase(id), name: id)
    }

    /// Pictures found for the phrase `id`, the most poster-like first.
    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let answer = try await search.images(for: try phrase(id), size: Self.hits)
        let hits = answer.documents.filter { WebURL($0.imageURL) != nil }.map { document in
            (candidate: PosterCandidate(document), kind: document.collection as String?)
        }
        return PosterScore().ranked(hits)
    }

    /// One page of results, unchanged.
    /// - Parameters:
    ///   - size: pictures per page, 1 to 80.
    ///   - page: 1 to 50.
    public func images(for phrase: String, size: Int = 10, page: Int = 1) async throws(SourceError) -> KakaoAnswer {
        precondition((1...80).contains(size) && (1...50).contains(page), "Kakao has 50 pages of at most 80 pictures")
        return try await search.images(for: try self.phrase(phrase), size: size, page: page)
    }

    /// Kakao rejects searches without words, and the URL of a very long one.
    private func phrase(_ id: String) throws(SourceError) -> String {
        guard id.contains(where: { $0.isLetter || $0.isNumber }), id.utf8.count <= 1000 else { throw .notFound(id: id) }
        return id
    }
}

extension PosterCandidate {
    fileprivate init(_ document: KakaoDocument) {
        self.init(
            .http(url: document.imageURL), width: document.width, height: document.height, site: document.siteName,
            page: document.pageURL, published: document.published)
    }
}
