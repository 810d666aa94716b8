package import Logging
package import OnesheetAddress
import OnesheetCache
package import OnesheetCore
import OnesheetHTTP
import OnesheetImaging
package import OnesheetPipeline

/// A configuration in effect: its sources, and the pipeline through its codecs and tiers. A reload makes another one on the same shared
/// resources.
package struct ServerContext: Sendable {
    package let configuration: ServerConfiguration
    /// Sources by name, in the order of the configuration.
    package let sources: [(name: String, source: any ContentSource)]
    /// The health and figures of each source, in the same order.
    let watches: [(name: String, watch: SourceWatch)]
    package let pipeline: Pipeline
    package let catalog: Catalog
    package let posters: Posters
    package let options: ImageOptions
    let signature: Signature
    let accept: Accept
    /// The dialects that the configuration names, in its order.
    let dialects: [any Dialect]
    /// Makes its sources.
    package let assembly: PluginAssembly
    package let shared: SharedResources

    /// - Throws: `ConfigurationError`, `CacheError` or `RequestError` (a preset) that says what cannot be used.
    package init(_ configuration: ServerConfiguration, _ plugins: PluginList, clock: WallClock = .system, logger: Logger) throws {
        try self.init(configuration, plugins, on: SharedResources(configuration, plugins, clock: clock, logger: logger))
    }

    /// A context that writes nothing: its cache is closed and its state is empty. For checking a configuration.
    /// - Throws: as the initializer does.
    package static func examined(
        _ configuration: ServerConfiguration, _ plugins: PluginList, clock: WallClock = .system, logger: Logger
    ) throws -> ServerContext {
        try ServerContext(
            configuration, plugins, on: SharedResources(configuration, plugins, writes: false, clock: clock, logger: logger))
    }

    /// - Throws: `ConfigurationError` or `RequestError` (a preset) that says what cannot be used.
    init(_ configuration: ServerConfiguration, _ plugins: PluginList, on shared: SharedResources) throws {
        let limits = configuration.limits.limits
        let (clock, logger, cache) = (shared.clock, shared.logger, shared.cache)
        let (state, transport, pool) = (shared.state, shared.transport, shared.pool)
        let assembly = PluginAssembly(
            plugins: plugins, transport: transport, limits: limits, clock: clock, logger: logger, state: { state.part($0) },
            memory: pool.memory)
        let watches = configuration.sourceNames.map { (name: $0, watch: SourceWatch(of: $0, clock: clock, logger: logger)) }
        let sources = try watches.compactMap { name, watch in
            try configuration.sources[name].map { (name, try assembly.source($0, named: name, watchedBy: watch)) }
        }
        let rendering = configuration.rendering
        let renderer = rendering.renderer(try assembly.codecs(rendering.codecs), limits)
        let byName = Dictionary(uniqueKeysWithValues: sources)
        let choices = PosterChoices(state)
        let catalog = Catalog(sources: byName, cache: cache, clock: clock, logger: logger)
        let originals = Originals(
            catalog: catalog, transport: transport, cache: cache, renderer: renderer, pool: pool, choices: choices, clock: clock,
            lifetime: .seconds(configuration.cache.disk.expires.seconds), logger: logger)
        self.configuration = configuration
        (self.sources, self.watches) = (sources, watches)
        self.assembly = assembly
        self.shared = shared
        pipeline = Pipeline(
            cache: cache, renderer: renderer, pool: pool, originals: originals, figures: shared.figures,
            background: shared.background, clock: clock)
        self.catalog = catalog
        posters = Posters(catalog: catalog, pipeline: pipeline, choices: choices)
        options = try ImageOptions(
            formats: renderer.formats, presets: configuration.presets, presetsOnly: configuration.presetsOnly)
        signature = Signature(
            configuration.signing, needsKey: !configuration.listen.isThisMachines && !configuration.presetsOnly)
        accept = Accept(formats: renderer.formats)
        dialects = try plugins.dialects(configuration.dialects)
        // A schedule that cannot be carried out is told now, and not at six in the morning.
        for line in configuration.prefetch { _ = try options.transforms(sizes: line.sizes, formats: line.formats) }
    }

    var clock: WallClock { shared.clock }
    var logger: Logger { shared.logger }

    /// A context for another configuration on the same shared resources.
    /// - Throws: `ConfigurationError` or `RequestError` (a preset) that says what cannot be used.
    func rebuilt(_ configuration: ServerConfiguration) throws -> ServerContext {
        try ServerContext(configuration, assembly.plugins, on: shared)
    }

    /// Works on as many titles at once as there are workers, and fetches one more meanwhile.
    package var prefetcher: Prefetcher { Prefetcher(pipeline: pipeline, concurrency: configuration.limits.limits.workers + 1) }

    /// Purges what was made of posters that the source called `name` has replaced, until nothing has changed. For commands, which do not
    /// stay to look again.
    package func catchUp(with name: String) async throws {
        guard let source = sources.first(where: { $0.name == name })?.source else { return }
        let changed = ChangedTitles(pipeline: pipeline, logger: logger)
        while let changes = try await changed.purge(of: name, source), changes != .none {}
    }

    /// Ends connections and threads.
    /// - Parameter limit: the longest wait for those that do not end.
    package func shutdown(within limit: Duration = .seconds(10)) async throws { try await shared.shutdown(within: limit) }
}
