internal import FoundationEssentials
internal import OnesheetCore

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
