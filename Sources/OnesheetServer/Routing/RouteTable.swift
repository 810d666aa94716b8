import OnesheetAddress
/// The address space of an installation.
struct Routes: Sendable {
    /// Those that lead to images; memory may answer them early.
    let images: [any ImageDialect]
    /// All of them, in the order in which they are asked.
    let all: [any Route]

    init(_ installation: Installation, _ figures: ServerFigures, _ readiness: Readiness) {
        images =
            [PosterRoute(installation: installation), ImageRoute(installation: installation)]
            + installation.configuration.dialects.map { $0.route(installation) }
        all =
            images + [
                LadderRoute(installation: installation),
                SourcesRoute(installation: installation), TitlesRoute(installation: installation),
                CacheRoute(installation: installation), BlockedRoute(installation: installation),
                PrefetchRoute(installation: installation), HealthRoute(), ReadyRoute(readiness: readiness),
                MetricsRoute(installation: installation, figures: figures), PageRoute(installation: installation),
            ]
    }
}
