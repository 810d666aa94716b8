package import Logging
package import OnesheetAddress
import OnesheetCache
package import OnesheetCore
import OnesheetImaging
package import OnesheetPipeline

/// A configuration in effect: its sources, its codecs, and the pipeline that uses them. A reload creates another context on the
/// same resources.
package final class ServerContext: Sendable {
    package let configuration: ServerConfiguration
    /// Sources by name, in configuration order.
    package let sources: [(name: String, source: any ContentSource)]
    /// The health and metrics of each source, in the same order.
    let watches: [(name: String, watch: SourceWatch)]
    package let pipeline: Pipeline
    package let catalog: Catalog
    package let posters: Posters
    package let options: ImageOptions
    /// The configured dialects, in configuration order.
    let dialects: [PlacedDialect]
    let fallbacks: FallbackImages
    /// Creates the sources.
    package let assembly: PluginAssembly
    package let resources: ServerResources
    /// What the configuration of each source is, by its name.
    let digests: [String: String]

    /// - Parameter isForOperator: whether only the operator reads the errors, as those of a command.
    /// - Throws: `ConfigurationError` or `CacheError`.
    package convenience init(
        _ configuration: ServerConfiguration, _ plugins: PluginList, isForOperator: Bool = false, clock: WallClock = .system,
        logger: Logger
    ) throws {
        try self.init(
            configuration, plugins,
            on: ServerResources(configuration, plugins, isForOperator: isForOperator, clock: clock, logger: logger))
    }

    /// A context for checking a configuration. It writes nothing: its cache is closed and its state is empty.
    /// - Throws: the same errors as the initializer.
    package static func examined(
        _ configuration: ServerConfiguration, _ plugins: PluginList, clock: WallClock = .system, logger: Logger
    ) throws -> ServerContext {
        try ServerContext(
            configuration, plugins, on: ServerResources(configuration, plugins, writes: false, clock: clock, logger: logger))
    }

    /// - Throws: `ConfigurationError`.
    init(_ configuration: ServerConfiguration, _ plugins: PluginList, on resources: ServerResources) throws {
        let limits = configuration.limits.limits
        let (clock, logger, cache) = (resources.clock, resources.logger, resources.cache)
        let (state, transport, pool) = (resources.state, resources.transport, resources.pool)
        var assembly = PluginAssembly(
            plugins: plugins, transport: transport, limits: limits, clock: clock, logger: logger, state: { state.part($0) },
            memory: pool.memory, cluster: resources.cluster)
        assembly.choices = resources.choices
        resources.latestSourceFiles.replace(with: assembly.files)
        let rendering = configuration.rendering
        let renderer = try rendering.renderer(try assembly.codecs(rendering.codecs), limits)
        assembly.readableFormats = renderer.readableFormats
        let engine = resources.engine(renderer, configuration: rendering, limits: limits)
        let watches = configuration.sourceNames.map { (name: $0, watch: SourceWatch(of: $0, clock: clock, logger: logger)) }
        assembly.configured = configuration.sources
        let answers = Catalog(sources: [:], cache: cache, counting: pool.memory, clock: clock, logger: logger)
        let (watchesByName, making) = (Dictionary(uniqueKeysWithValues: watches), assembly)
        let set = SourceSet(configuration.sources) { nested, name, find in
            let watch = watchesByName[name] ?? SourceWatch(of: name, clock: clock, logger: logger)
            let source = try making.source(
                nested, named: name, watchedBy: watch, knowing: answers.ownIDs, finding: find)
            return SourceSet.Made(source: source, member: CatalogedSource(name, source, in: answers))
        }
        let sources = try watches.compactMap { name, _ in
            configuration.sources[name] == nil ? nil : (name, try set.source(name))
        }
        let byName = Dictionary(uniqueKeysWithValues: sources)
        for (name, watch) in watches {
            guard let policy = byName[name]?.originPolicy else { continue }
            watch.ask(hosts: { [web = resources.web] in web.health(under: policy) })
        }
        digests = SourceDigests.digests(of: configuration.sources, sources: byName, files: assembly.files)
        let choices = resources.choices
        catalog = answers.with(byName)
        pipeline = Self.pipeline(
            on: catalog, over: resources.transport, cache: cache, engine: engine, configuration, resources)
        self.configuration = configuration
        self.sources = sources
        self.watches = watches
        self.assembly = assembly
        self.resources = resources
        posters = Posters(catalog: catalog, pipeline: pipeline, choices: choices, decisions: resources.decisions)
        let watermark = renderer.watermark?.digest
        if let bad = ImageOptions.errors(of: configuration.presets, formats: renderer.formats, watermark: watermark).first {
            throw ConfigurationError(path: "presets.\(bad.name)", message: "\(bad.error)")
        }
        options = try ImageOptions(
            formats: renderer.formats, presets: configuration.presets, presetsOnly: configuration.presetsOnly,
            watermark: watermark, findsQuality: configuration.rendering.quality == .automatic)
        dialects = try plugins.dialects(configuration)
        fallbacks = try FallbackImages(configuration.fallback, drawnBy: renderer, limits)
        for (index, line) in configuration.prefetch.enumerated() {
            try line.check(with: options, byName[line.source]?.capabilities, dialects.compactMap(\.dialect), at: index)
        }
    }

    private static func pipeline(
        on catalog: Catalog, over transport: any HTTPTransport, cache: Cache, engine: any PictureEngine,
        _ configuration: ServerConfiguration, _ resources: ServerResources
    ) -> Pipeline {
        let (pool, clock) = (resources.pool, resources.clock)
        let originals = Originals(
            catalog: catalog, transport: transport, cache: cache, engine: engine, pool: pool, choices: resources.choices,
            changes: resources.configurationChanges, clock: clock,
            lifetime: .seconds(configuration.cache.disk.expires.seconds), mostBytes: configuration.limits.limits.originBytes,
            logger: resources.logger)
        return Pipeline(
            cache: cache, engine: engine, pool: pool, originals: originals, metrics: resources.metrics,
            background: resources.background, clock: clock)
    }

    /// A pipeline with the same sources and an empty cache that keeps nothing: it asks for everything. Only the members of a source
    /// that is made of others answer as always, from the cache too.
    /// - Parameters:
    ///   - transport: fetches images.
    ///   - source: takes the place of the source `name`.
    package func uncached(over transport: any HTTPTransport, with source: any ContentSource, named name: String) -> Pipeline {
        let disk = DiskTier(closedAt: configuration.cache.disk.path, clock: clock, logger: logger)
        let cache = Cache(memory: MemoryTier(bytes: 0), disk: disk, logger: logger)
        let catalog = Catalog(
            sources: Dictionary(uniqueKeysWithValues: sources).merging([name: source]) { $1 }, cache: cache,
            counting: resources.pool.memory, clock: clock, logger: logger)
        return Self.pipeline(on: catalog, over: transport, cache: cache, engine: pipeline.engine, configuration, resources)
    }

    var clock: WallClock { resources.clock }
    var logger: Logger { resources.logger }

    /// A context for another configuration on the same resources.
    /// - Throws: `ConfigurationError`.
    func rebuilt(_ configuration: ServerConfiguration) throws -> ServerContext {
        try ServerContext(configuration, assembly.plugins, on: resources)
    }

    /// A prefetcher with one job more than there are workers, so that one can fetch while the others render.
    package var prefetcher: Prefetcher {
        Prefetcher(
            pipeline: pipeline, concurrency: configuration.limits.limits.workers + 1, dialects: dialects.compactMap(\.dialect))
    }

    /// Removes what changes have made outdated: answers of a former configuration, and variants of posters that the source `name` has
    /// replaced, until it reports no change. For commands; a server does both by itself.
    package func dropOutdated(of name: String) async throws {
        await dropOutdatedAnswers(isServer: false)
        guard let source = sources.source(named: name) else { return }
        let changed = ChangedTitles(pipeline: pipeline, logger: logger)
        while let changes = try await source.changes(), changes != .none { try await changed.purge(changes, of: name) }
    }

    /// Removes the lists, titles and candidates of each source whose configuration, or a file that it names, differs from the one that
    /// they come from: at the start that of the last run, after a reload also that of `former`.
    /// - Parameter isServer: whether this process is a server. A command beside a server does not record its configuration: the server may
    ///   have another one, and goes on to store answers of that.
    package func dropOutdatedAnswers(after former: ServerContext? = nil, isServer: Bool = true) async {
        let records = isServer || !resources.disk.wasInUse
        for (name, digest) in digests.sorted(by: { $0.key < $1.key }) {
            do {
                let recorded = try await resources.digests.restore(name, orRecord: records ? digest : nil) ?? digest
                let replaced = former?.digests[name] ?? digest
                guard recorded != digest || replaced != digest else { continue }
                _ = try await pipeline.cache.purge([.tag(.lists(of: name)), .tag(.answers(of: name))])
                if records { try await resources.digests.change(name, to: digest) }
                logger.notice(
                    "the configuration of a source has changed: its lists and titles are asked again, its images when they are stale",
                    metadata: ["source": "\(name)"])
            } catch {
                logger.warning(
                    "lists and titles of a source's former configuration may stay: \(error)", metadata: ["source": "\(name)"])
            }
        }
    }

    /// Shuts the sources down, closes connections and ends threads.
    /// - Parameter limit: the longest time to wait for them.
    package func shutdown(within limit: Duration = .seconds(10)) async throws {
        defer { pipeline.engine.shutdown() }
        try await resources.shutdown(within: limit, and: endSources)
    }

    /// Shuts the sources down, at once if the task is cancelled.
    func endSources() async {
        await withTaskGroup(of: Void.self) { group in
            for (_, source) in sources { group.addTask { await source.shutdown() } }
        }
    }
}
