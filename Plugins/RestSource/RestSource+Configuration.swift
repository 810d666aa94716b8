internal import FoundationEssentials
internal import OnesheetCore

extension RestSource {
    /// What the configuration file says.
    public struct Configuration: Decodable, Sendable {
        /// A manifest that comes with Onesheet, by name, or a file.
        var manifest: String?
        /// The manifest itself.
        var api: Manifest?
        /// Values for the manifest's variables.
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

        /// The manifest, wherever it is.
        /// - Throws: `ConfigurationError` where there is none or it cannot be used.
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
        # One that comes with Onesheet (tmdb, kobis-kakao), or a file. Or its keys right here, under “api”.
        manifest: tmdb
        # What the manifest leaves open.
        variables: { token: "${TMDB_TOKEN}", language: ko-KR }
        # Takes the place of the manifest's address, for a mirror or a test.
        # baseURL: http://127.0.0.1:9090/tmdb
        # Where connections may end, the service's and the pictures'.
        networks: [public]
        timeout: 10s
        # Bytes of one answer of the service; more is refused before it is read.
        answerBytes: 8MiB
        # Requests per second.
        rate: 20
        """
}
