package import Logging
package import OnesheetAddress
package import OnesheetCache
package import OnesheetCore
import OnesheetHTTP
import OnesheetImaging
package import OnesheetPipeline

/// Everything that a configuration means: sources, codecs, tiers and the pipeline through them.
package struct Installation: Sendable {
    package let configuration: ServerConfiguration
    /// Sources by name, in the order of the configuration.
    package let sources: [(name: String, source: any ContentSource)]
    /// How each of them is, in the same order.
    let watches: [(name: String, watch: SourceWatch)]
    package let pipeline: Pipeline
    package let catalog: Catalog
    package let posters: Posters
    package let options: ImageOptions
    let signature: Signature
    let accept: Accept
    /// The dialects that the configuration names, in its order.
    let dialects: [any Dialect]
    /// How its sources are made.
    package let assembly: PluginAssembly
    private let groundwork: Groundwork

    /// - Throws: `ConfigurationError`, `CacheError` or `RequestError` (a preset) that says what cannot be used.
    package init(_ configuration: ServerConfiguration, _ plugins: PluginList, clock: WallClock = .system, logger: Logger) throws {
        try self.init(configuration, plugins, on: Groundwork(configuration, plugins, clock: clock, logger: logger))
    }

    /// The same for a look at it, which writes nothing: its cache is closed and its state is empty.
    /// - Throws: as the other does.
    package static func examined(
        _ configuration: ServerConfiguration, _ plugins: PluginList, clock: WallClock = .system, logger: Logger
    ) throws -> Installation {
        try Installation(
            configuration, plugins, on: Groundwork(configuration, plugins, writes: false, clock: clock, logger: logger))
    }

    /// - Throws: `ConfigurationError` or `RequestError` (a preset) that says what cannot be used.
    init(_ configuration: ServerConfiguration, _ plugins: PluginList, on groundwork: Groundwork) throws {
        let limits = configuration.limits.limits
        let (clock, logger, cache) = (groundwork.clock, groundwork.logger, groundwork.cache)
        let (state, transport, pool) = (groundwork.state, groundwork.transport, groundwork.pool)
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
        self.groundwork = groundwork
        pipeline = Pipeline(
            cache: cache, renderer: renderer, pool: pool, originals: originals, figures: groundwork.figures,
            background: groundwork.background, clock: clock)
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

    var cache: Cache { groundwork.cache }
    /// What is kept over restarts.
    var state: StateStore { groundwork.state }
    package var disk: DiskTier { groundwork.disk }
    package var clock: WallClock { groundwork.clock }
    var logger: Logger { groundwork.logger }

    /// The same ground under another configuration.
    /// - Throws: `ConfigurationError` or `RequestError` (a preset) that says what cannot be used.
    func rebuilt(_ configuration: ServerConfiguration) throws -> Installation {
        try Installation(configuration, assembly.plugins, on: groundwork)
    }

    /// Works on as many titles at once as there are workers, and fetches one more meanwhile.
    package var prefetcher: Prefetcher { Prefetcher(pipeline: pipeline, concurrency: configuration.limits.limits.workers + 1) }

    /// Ends connections and threads.
    /// - Parameter limit: the longest that is waited for those that do not end.
    package func shutdown(within limit: Duration = .seconds(10)) async throws { try await groundwork.shutdown(within: limit) }
}
