import HTTPTypes
import OnesheetAddress
import HummingbirdCore
import OnesheetCache
import OnesheetCore
import OnesheetHTTP
import OnesheetImaging
import OnesheetPipeline

/// `/health`: whether the process responds.
struct HealthRoute: Route {
    let prefix = "/health"
    private let text = "ok\n"
    var immediateText: String? { text }

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response { .state(text) }
}

/// `/ready`: whether the server accepts requests. It does not while it starts or shuts down, or if it cannot start render processes.
struct ReadyRoute: Route {
    let prefix = "/ready"
    let readiness: Readiness
    let engine: any PictureEngine
    private static let text = "ready\n"
    var immediateText: String? { readiness.state == .ready && engine.isReady ? Self.text : nil }

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        try readiness.check()
        guard engine.isReady else {
            // A balancer sends no picture that would try it again.
            engine.warmUp()
            throw Problem.cannotRender
        }
        return .state(Self.text)
    }
}

/// `/3/configuration`: the size ladder in TMDB's format.
struct ClientConfigurationRoute: Route {
    let prefix = "/3/configuration"
    let url: PublicURL

    private struct Document: Encodable {
        struct Images: Encodable {
            let baseURL: String
            /// Without HTTPS the same as `base_url`, because clients that prefer it would reach nothing.
            let secureBaseURL: String
            let posterSizes: [String]
            let backdropSizes: [String]
            let logoSizes: [String]
            let profileSizes: [String]
            let stillSizes: [String]

            enum CodingKeys: String, CodingKey {
                case baseURL = "base_url"
                case secureBaseURL = "secure_base_url"
                case posterSizes = "poster_sizes"
                case backdropSizes = "backdrop_sizes"
                case logoSizes = "logo_sizes"
                case profileSizes = "profile_sizes"
                case stillSizes = "still_sizes"
            }
        }
        let images: Images
        /// The names of fields that TMDB's lists of changes have. Some clients require the member.
        let changeKeys = [
            "adult", "air_date", "also_known_as", "alternative_titles", "biography", "birthday", "budget", "cast", "certifications",
            "character_names", "created_by", "crew", "deathday", "episode", "episode_number", "episode_run_time", "freebase_id",
            "freebase_mid", "general", "genres", "guest_stars", "homepage", "images", "imdb_id", "languages", "name", "network",
            "origin_country", "original_name", "original_title", "overview", "parts", "place_of_birth", "plot_keywords",
            "production_code", "production_companies", "production_countries", "releases", "revenue", "runtime", "season",
            "season_number", "season_regular", "spoken_languages", "status", "tagline", "title", "translations", "tvdb_id",
            "tvrage_id", "type", "video", "videos",
        ]

        private enum CodingKeys: String, CodingKey {
            case images
            case changeKeys = "change_keys"
        }
    }

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        let url = "\(url.text(of: context))/t/p/"
        let sizes = SizeLadder.names(of:)
        var response = try Response.json(
            Document(
                images: .init(
                    baseURL: url, secureBaseURL: url, posterSizes: sizes(.poster), backdropSizes: sizes(.backdrop),
                    logoSizes: sizes(.logo),
                    profileSizes: sizes(.profile), stillSizes: sizes(.still))))
        response.headers[.cacheControl] = "public, max-age=3600"
        response.headers[.vary] = PublicURL.vary
        return response
    }
}

/// `/metrics`: metrics in Prometheus' text format 0.0.4.
struct MetricsRoute: Route {
    let prefix = "/metrics"
    let reading: MetricsReading

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        .text(await reading.metrics().prometheusText, type: "text/plain; version=0.0.4; charset=utf-8")
    }
}
