import OnesheetCache
import OnesheetCore
import OnesheetHTTP
import OnesheetImaging
import OnesheetPipeline

extension Router {
    /// Creates the router with all routes of the server.
    init(_ context: ServerContext, counters: ServerCounters, readiness: Readiness) {
        let (configuration, clock, logger) = (context.configuration, context.clock, context.logger)
        let (sources, watches, cache) = (context.sources, context.watches, context.resources.cache)
        let (pipeline, catalog, posters) = (context.pipeline, context.catalog, context.posters)
        let administrator = Administrator(token: configuration.admin.token, sharesLists: configuration.isPublic.lists)
        let images = context.images
        let explainer = context.explainer
        // They are among what is remembered beside the cache (`ServerResources`).
        let limit = configuration.limits.limits.memory
        let (documents, coding) = (ListDocuments(keeping: limit / 128), DocumentCoding(keeping: limit / 256))
        let answers = KeptDocuments(keeping: min(limit / 128, 4 << 20), coding, clearedBy: cache.memory, clock: clock)
        // The first route that matches a path answers it.
        let routes: [any Route] =
            explainer.routes
            + [
                ExplainRoute(explainer: explainer, administrator: administrator),
                AddressesRoute(
                    images: images, dialects: explainer.routes.compactMap { $0 as? DialectRoute }, administrator: administrator),
                ClientConfigurationRoute(url: PublicURL(listen: configuration.listen, isSecure: configuration.tls != nil)),
                SourcesRoute(
                    sources: sources, watches: watches, types: configuration.sources.mapValues(\.type),
                    administrator: administrator, clock: clock),
                TitlesRoute(
                    images: images, catalog: catalog, posters: posters, administrator: administrator,
                    documents: documents),
                CacheRoute(
                    cache: cache, disk: context.resources.disk, sources: sources, explainer: explainer,
                    administrator: administrator, clock: clock),
                BlockedRoute(posters: posters, administrator: administrator),
                PrefetchRoute(
                    prefetcher: context.prefetcher, jobs: context.resources.prefetchJobs,
                    ledger: PrefetchLedger(context.resources.state, context.resources.prefetchJobs), options: context.options,
                    administrator: administrator, clock: clock),
                PrefetchJobRoute(jobs: context.resources.prefetchJobs, administrator: administrator),
                FiguresRoute(history: counters.history), ErrorsRoute(errors: counters.errors, administrator: administrator),
                HealthRoute(), ReadyRoute(readiness: readiness, engine: pipeline.engine),
                MetricsRoute(reading: MetricsReading(context, counters: counters)),
            ]
            + explainer.routes.compactMap {
                ($0 as? DialectRoute).flatMap { DialectDocumentRoute($0, administrator, keeping: answers) }
            }
            + (configuration.isPublic.console
                ? [
                    ConsoleFileRoute(), FaviconRoute(),
                    ConsoleRoute(
                        sources: sources, catalog: catalog, posters: posters, memory: pipeline.pool.memory,
                        administrator: administrator, documents: documents, clock: clock,
                        logger: logger),
                ] : [])
        let present = Set(configuration.dialects.map(\.name))
        let keys = ClientKeys(context.dialects.flatMap { $0.dialect?.clientKeys ?? [] })
        counters.accessLog?.leaveOut(keys)
        let server = configuration.serverHeader ? "onesheet/\(ServerVersion.current)" : nil
        self.init(
            RouteTable(routes, images: images, counters: counters),
            CommonFields(
                cors: CORS(configuration: configuration.cors), server: server,
                strictTransportSecurity: configuration.tls?.strictTransportSecurity), coding: coding, kept: answers,
            errors: counters.errors, tracing: RequestTracing(collector: counters.collector), keys: keys,
            absent: context.assembly.plugins.dialects.filter { !present.contains($0.name) }, logger: logger,
            pageOf: PlainPage.response(_:to:))
    }
}

extension ServerContext {
    /// The dependencies of the image routes.
    var images: ImageContext {
        ImageContext(
            pipeline: pipeline, sources: sources, options: options, signature: configuration.signature,
            encryption: configuration.signing.encryptionKey, accept: Accept(formats: pipeline.engine.formats),
            fallbacks: fallbacks, clock: clock)
    }

    /// Explains addresses of images. It has all image routes.
    package var explainer: Explainer {
        let images = images
        let sharesRoot = dialects.contains { $0.dialect != nil && $0.configuration.isAtRoot }
        // imgproxy's form is known by itself, so its addresses come first.
        let ordered = dialects.filter { $0.dialect == nil } + dialects.filter { $0.dialect != nil }
        let others = ordered.flatMap { placed -> [any ImageRoute] in
            guard let dialect = placed.dialect else {
                return [FreeImageRoute(images: images, root: placed.configuration, sharesRoot: sharesRoot)]
            }
            return DialectRoute.prefixes(of: dialect, at: placed.configuration).map { prefix in
                DialectRoute(
                    dialect, placed.configuration, at: prefix, images: images, listen: configuration.listen,
                    isSecure: configuration.tls != nil, presetsOnly: configuration.presetsOnly,
                    outputPixels: configuration.limits.limits.outputPixels, catalog: catalog)
            }
        }
        let posters = PosterRoute(
            images: images, files: others.lazy.compactMap { $0 as? DialectRoute }.first { $0.prefix == PosterRoute.prefix })
        return Explainer(routes: [posters, FreeImageRoute(images: images)] + others, images: images)
    }
}
