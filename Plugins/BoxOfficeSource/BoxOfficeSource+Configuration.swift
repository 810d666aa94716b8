public import OnesheetCore

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
            (self.key, self.posters, self.quota, self.http) = (key, posters, quota, http)
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            key = try container.decode(String.self, forKey: .key)
            posters = try container.decode(NestedSource.self, forKey: .posters)
            quota = try container.decodeIfPresent(QuotaSettings.self, forKey: .quota) ?? QuotaSettings(perDay: 3000)
            http = try HTTPSettings(from: decoder)
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
