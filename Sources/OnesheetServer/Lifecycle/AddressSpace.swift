import OnesheetPipeline

extension Router {
    /// The router to all routes of the server.
    init(_ installation: Installation, _ figures: ServerFigures, _ readiness: Readiness) {
        let images = ImageContext(
            pipeline: installation.pipeline, sources: installation.sources, options: installation.options,
            signature: installation.signature, accept: installation.accept, clock: installation.clock)
        // In the order in which they are asked.
        let routes: [any Route] =
            [PosterRoute(images: images), FreeImageRoute(images: images)]
            + installation.dialects.map { DialectRoute($0, images, installation.configuration) }
            + [
                LadderRoute(installation: installation),
                SourcesRoute(installation: installation), TitlesRoute(installation: installation),
                CacheRoute(installation: installation), BlockedRoute(installation: installation),
                PrefetchRoute(installation: installation), HealthRoute(), ReadyRoute(readiness: readiness),
                MetricsRoute(installation: installation, figures: figures), PageRoute(installation: installation),
            ]
        self.init(
            RouteTable(routes, images, figures), cors: CORS(configuration: installation.configuration.cors), times: figures.times,
            logger: installation.logger)
    }
}
