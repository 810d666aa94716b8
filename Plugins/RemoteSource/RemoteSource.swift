public import OnesheetCore

/// Originals anywhere on the web. A title's id is the URL of its picture, and the configuration lists the allowed URLs.
public struct RemoteSource: SourcePlugin {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The allowed URLs.
        public var allow: [URLPrefix]
        /// Whether a changed picture always has a new URL.
        public var versioned: Bool
        /// The parameters of a URL's query that identify the picture.
        public var query: CountedQuery
        public var http: HTTPSettings

        private enum CodingKeys: CodingKey { case allow, versioned, query }

        public init(
            allow: [URLPrefix], versioned: Bool = false, query: CountedQuery = .all, http: HTTPSettings = HTTPSettings()
        ) {
            self.allow = allow
            self.versioned = versioned
            self.query = query
            self.http = http
        }

        public init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            // The required key comes last, so that errors in the others are told if it is missing.
            http = try HTTPSettings(from: decoder)
            versioned = try keys.decodeIfPresent(Bool.self, forKey: .versioned) ?? false
            query = try keys.decodeIfPresent(CountedQuery.self, forKey: .query) ?? .all
            allow = try keys.decode([URLPrefix].self, forKey: .allow)
        }
    }

    public static let type = "remote"

    public static let sampleConfiguration = """
        type: remote
        # Prefixes of URLs that may be fetched: scheme, host (*. stands for one or more labels), port unless it is the scheme's
        # default (:* is any), and whole segments of the path.
        allow:
          - "https://images.example.com/posters/"
          - "https://*.cdn.example.com:8443/"
        # Whether the URL changes with the picture, for example because it has a hash: then clients may cache it without limit.
        versioned: false
        # The query parameters that identify a picture: all, none, or a list such as [w, h]. The others are removed before lookups
        # and requests. With all, ?v=1, ?v=2, … are different pictures: use none or a list if a host ignores the rest.
        query: all
        # Allowed addresses of connections: public, private, loopback, or blocks such as 203.0.113.0/24.
        networks: [public]
        # The proxy of all these requests, which looks up the names of hosts; or socks5://proxy.example:1080.
        # proxy: http://user:password@proxy.example:3128
        # Headers of every request.
        headers: { Referer: "https://www.example.com/" }
        # The time limit for one picture, from the first byte sent to the last byte received.
        timeout: 10s
        # Requests per second.
        rate: 20
        # The least and the longest time for which a picture is fresh, regardless of its origin; and the times for which a stale
        # picture is served during revalidation and if revalidation fails, unless the origin says otherwise.
        freshness: { minimum: 1h, maximum: 7d, staleWhileRevalidate: 60s, staleIfError: 1d }
        """

    public let originPolicy: OriginPolicy
    public let isVersioned: Bool
    private let allow: [URLPrefix]
    private let query: CountedQuery

    /// The id is the URL, so no service is asked.
    public var asksService: Bool { false }

    public var capabilities: SourceCapabilities { SourceCapabilities(hasLists: false, searches: false) }

    /// - Throws: `ConfigurationError` if nothing is allowed, or if `baseURL` is set, because ids are whole URLs.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        guard !configuration.allow.isEmpty else {
            throw ConfigurationError(path: "allow", message: "needs at least one URL prefix such as https://images.example.com/")
        }
        guard configuration.http.baseURL == nil else {
            throw ConfigurationError(path: "baseURL", message: "a remote source has none: its ids are whole URLs")
        }
        guard configuration.http.answerBytes == nil else {
            throw ConfigurationError(
                path: "answerBytes", message: "a remote source asks no service; images are limited by limits.originBytes")
        }
        allow = configuration.allow
        isVersioned = configuration.versioned
        query = configuration.query
        var policy = configuration.http.policy(allow: configuration.allow)
        policy.visitorsChoose = true
        originPolicy = policy
    }

    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        throw .unsupported("a remote source has no lists: its titles are the URLs that it allows")
    }

    /// The canonical spelling of the URL, with the identifying parameters. That of a URL that is not allowed, too: its images may be stored
    /// from a time when it was.
    public func canonicalID(_ id: String) -> String { WebURL(id).map { query.text(of: $0) } ?? id }

    public func canonicalID(of url: WebURL) -> String { query.text(of: url) }

    /// The picture as a title.
    public func title(_ id: String) async throws(SourceError) -> Title {
        let url = try allowed(id)
        let file = url.path.pieces(at: "/").last.map(String.init)
        return Title(id: id, name: file ?? url.host)
    }

    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let url = try allowed(id)
        return [PosterCandidate(.http(url: query.text(of: url)), site: url.host)]
    }

    private func allowed(_ id: String) throws(SourceError) -> WebURL {
        guard let url = WebURL(id), allow.contains(where: { $0.matches(url) }) else { throw .notFound(id: id) }
        return url
    }
}
