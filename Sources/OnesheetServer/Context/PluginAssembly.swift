package import Logging
import OnesheetCache
package import OnesheetCluster
package import OnesheetCore
package import OnesheetImaging
import OnesheetPipeline

/// Creates plugins from their configurations. Each receives its own context.
package struct PluginAssembly: Sendable {
    let plugins: PluginList
    package var transport: any HTTPTransport
    let limits: Limits
    /// The formats that the codecs read, for sources that list files.
    var readableFormats: [ImageFormat] = []
    /// The files that sources read.
    let files = SourceFiles()
    /// All sources of the configuration, of which some may be made of others.
    package var configured: [String: NestedSource] = [:]
    let clock: WallClock
    let logger: Logger
    package var state: @Sendable (String) -> any KeyValueState
    /// The administrator's decisions; `nil` if there are none, as for a check of the configuration.
    var choices: PosterChoices?
    /// The memory budget for responses to sources.
    var memory: MemoryBudget?
    /// The work that is shared with other servers; `nil` if there are none.
    private let cluster: ServerCluster?

    package init(
        plugins: PluginList, transport: any HTTPTransport, limits: Limits, clock: WallClock, logger: Logger,
        state: @escaping @Sendable (String) -> any KeyValueState, memory: MemoryBudget? = nil
    ) {
        self.init(
            plugins: plugins, transport: transport, limits: limits, clock: clock, logger: logger, state: state, memory: memory,
            cluster: nil)
    }

    init(
        plugins: PluginList, transport: any HTTPTransport, limits: Limits, clock: WallClock, logger: Logger,
        state: @escaping @Sendable (String) -> any KeyValueState, memory: MemoryBudget?, cluster: ServerCluster?
    ) {
        self.cluster = cluster
        self.plugins = plugins
        self.transport = transport
        self.limits = limits
        self.clock = clock
        self.logger = logger
        self.state = state
        self.memory = memory
    }

    /// Creates the source that the configuration calls `name`, and those that it is made of.
    package func source(_ nested: NestedSource, named name: String) throws(ConfigurationError) -> any ContentSource {
        let set = SourceSet(configured.merging([name: nested]) { $1 }) { nested, name, find in
            let source = try limitedSource(nested, named: name, finding: find).source
            return SourceSet.Made(source: source, member: source)
        }
        return try set.source(name)
    }

    private func limitedSource(
        _ nested: NestedSource, named name: String, finding find: @escaping @Sendable (String) throws -> any ContentSource
    ) throws(ConfigurationError) -> (source: any ContentSource, settings: SourceSettings) {
        let path = "sources.\(name)"
        let type = try plugins.source(nested.type, at: "\(path).type")
        let (configuration, settings) = try nested.split(at: path)
        let limits = settings.limits
        var context = context(for: name)
        context.onRead = { [files] path in files.note(path, of: name) }
        context.findSource = find
        context.statedMatches = { [choices, logger] id in
            do {
                let title = ImageReference(TitleReference(source: name, id: id))
                return try await choices?.choice(of: title).decision.matches ?? [:]
            } catch is CancellationError {
                return [:]
            } catch {
                logger.error("the stated matches of titles cannot be read", metadata: ["reason": "\(error)"])
                return [:]
            }
        }
        context.languages = settings.languages
        context.transport = LimitedTransport(context.transport, limits, memory: memory)
        context.limits.originBytes = min(context.limits.originBytes, limits.bytes ?? .max)
        let source: any ContentSource = try plugins.make(type, configuration: configuration, context: context, at: path)
        return (source, settings)
    }

    /// Creates the source with its limits enforced and its health tracked.
    func source(
        _ nested: NestedSource, named name: String, watchedBy watch: SourceWatch, knowing ids: OwnIDs,
        finding find: @escaping @Sendable (String) throws -> any ContentSource
    ) throws(ConfigurationError) -> any ContentSource {
        let (source, settings) = try limitedSource(nested, named: name, finding: find)
        var limits = settings.limits
        // Render processes take no larger originals, so none is fetched.
        limits.bytes = min(limits.bytes ?? .max, self.limits.originBytes)
        return WatchedSource(source, limits: limits, languages: settings.languages, watch: watch) { id in
            ids.own(TitleReference(source: name, id: id))
        }
    }

    /// Creates all codecs and decoders in list order, each with its own configuration.
    package func codecs(_ configurations: [String: ConfigurationValue]) throws(ConfigurationError) -> CodecSet {
        let known = plugins.codecs.map { $0.type } + plugins.decoders.map { $0.type }
        if let unknown = configurations.keys.sorted().first(where: { !known.contains($0) }) {
            throw ConfigurationError(path: "rendering.codecs", message: unknownName(unknown, kind: "codec", known: known))
        }
        func make<Made: Plugin>(_ type: Made.Type) throws(ConfigurationError) -> Made {
            try plugins.make(
                type, configuration: configurations[type.type] ?? .mapping([:]), context: context(for: type.type),
                at: "rendering.codecs.\(type.type)")
        }
        var codecs: [any Codec] = []
        for type in plugins.codecs { codecs.append(try make(type)) }
        var decoders: [any ImageDecoder] = []
        for type in plugins.decoders { decoders.append(try make(type)) }
        return CodecSet(codecs: codecs, decoders: decoders)
    }

    /// Creates the plugins' tiers, in the order in which the cache asks them.
    /// - Parameter writes: whether to create the tiers. If not, only their configurations are checked.
    func tiers(
        _ configurations: [TierConfiguration], writes: Bool
    ) throws(ConfigurationError) -> [(name: String, deadline: Duration, tier: any TierPlugin)] {
        var tiers: [(name: String, deadline: Duration, tier: any TierPlugin)] = []
        for (index, configuration) in configurations.enumerated() {
            let path = "cache.tiers.[\(index)]"
            let type = try plugins.tier(configuration.type, at: "\(path).type")
            guard writes else {
                try check(configuration, at: path)
                continue
            }
            let context = context(for: configuration.name, statePath: "cache/\(configuration.name)")
            tiers.append(
                (
                    configuration.name, configuration.common.deadline.duration,
                    try plugins.make(type, configuration: configuration.configuration, context: context, at: path)
                ))
        }
        return tiers
    }

    /// Creates the cluster of this server; `nil` if it works alone.
    package func cluster(_ configuration: SharedConfiguration) throws(ConfigurationError) -> ServerCluster? {
        var settings = SharedSettings(prefix: configuration.prefix)
        settings.expires = .seconds(configuration.expires.seconds)
        // An object is in memory before it is counted.
        settings.readsUnderWay = settings.readsUnderWay(within: limits.memory)
        return ServerCluster(
            store: try store(configuration.store), coordinator: try coordinator(configuration.coordinator), settings,
            state: state("purges"), clock: clock, logger: logger)
    }

    /// Creates the store that several servers share; `nil` if none is configured.
    private func store(_ backend: BackendConfiguration?) throws(ConfigurationError) -> (any ObjectStorePlugin)? {
        guard let backend else { return nil }
        let type = try plugins.store(backend.type)
        return try plugins.make(
            type, configuration: backend.configuration, context: context(for: "shared.store"), at: "shared.store")
    }

    /// Creates the coordinator of several servers; `nil` if none is configured.
    private func coordinator(_ backend: BackendConfiguration?) throws(ConfigurationError) -> (any CoordinatorPlugin)? {
        guard let backend else { return nil }
        let type = try plugins.coordinator(backend.type)
        return try plugins.make(
            type, configuration: backend.configuration, context: context(for: "shared.coordinator"), at: "shared.coordinator")
    }

    /// Checks the configurations of the backends and creates none.
    func checkBackends(_ configuration: SharedConfiguration) throws(ConfigurationError) {
        if let backend = configuration.store {
            try plugins.check(try plugins.store(backend.type), configuration: backend.configuration, at: "shared.store")
        }
        if let backend = configuration.coordinator {
            try plugins.check(try plugins.coordinator(backend.type), configuration: backend.configuration, at: "shared.coordinator")
        }
    }

    /// Checks the configuration of a plugin's tier without creating the tier.
    func check(_ configuration: TierConfiguration, at path: String) throws(ConfigurationError) {
        try plugins.check(
            try plugins.tier(configuration.type, at: "\(path).type"), configuration: configuration.configuration, at: path)
    }

    private func context(for name: String, statePath: String? = nil) -> PluginContext {
        var logger = logger
        logger[metadataKey: "plugin"] = "\(name)"
        var context = PluginContext(
            name: name, transport: transport, logger: logger, clock: clock, limits: limits,
            readableFormats: readableFormats, state: state(statePath ?? name)
        ) { nested, outer in
            // A nested source shares the outer source's name but has its own part of the state.
            let path = nested.path.isEmpty ? nested.type : nested.path
            let type = try plugins.source(nested.type, at: "\(path).type")
            var inner = outer
            inner.state = state("\(outer.name)/\(nested.type)")
            inner.counters = cluster?.counters("\(outer.name)/\(nested.type)")
            return try plugins.make(type, configuration: nested.configuration, context: inner, at: path)
        }
        context.counters = cluster?.counters(statePath ?? name)
        return context
    }
}

extension PluginList {
    /// The source type with this name.
    package func source(_ name: String, at path: String) throws(ConfigurationError) -> any SourcePlugin.Type {
        guard let type = sources.first(where: { $0.type == name }) else {
            throw ConfigurationError(path: path, message: unknownName(name, kind: "source type", known: sources.map { $0.type }))
        }
        return type
    }

    /// The tier type with this name.
    fileprivate func tier(_ name: String, at path: String) throws(ConfigurationError) -> any TierPlugin.Type {
        guard let type = tiers.first(where: { $0.type == name }) else {
            throw ConfigurationError(path: path, message: unknownName(name, kind: "tier type", known: tiers.map { $0.type }))
        }
        return type
    }

    /// The store type with this name.
    fileprivate func store(_ name: String) throws(ConfigurationError) -> any ObjectStorePlugin.Type {
        guard let type = stores.first(where: { $0.type == name }) else {
            throw ConfigurationError(
                path: "shared.store.type", message: unknownName(name, kind: "store type", known: stores.map { $0.type }))
        }
        return type
    }

    /// The coordinator type with this name.
    fileprivate func coordinator(_ name: String) throws(ConfigurationError) -> any CoordinatorPlugin.Type {
        guard let type = coordinators.first(where: { $0.type == name }) else {
            throw ConfigurationError(
                path: "shared.coordinator.type",
                message: unknownName(name, kind: "coordinator type", known: coordinators.map { $0.type }))
        }
        return type
    }

    /// The dialects of a configuration.
    func dialects(_ configuration: ServerConfiguration) throws(ConfigurationError) -> [PlacedDialect] {
        var made: [PlacedDialect] = []
        for index in configuration.dialects.indices { made.append(try dialect(at: index, of: configuration)) }
        return made
    }

    /// The dialect at this position of a configuration.
    func dialect(at index: Int, of configuration: ServerConfiguration) throws(ConfigurationError) -> PlacedDialect {
        let placement = configuration.dialects[index]
        let (path, name) = ("dialects.[\(index)]", placement.name)
        guard !configuration.dialects[..<index].contains(where: { $0.name == name && $0.isAtRoot == placement.isAtRoot }) else {
            throw ConfigurationError(path: path, message: "“\(name)” is there already; only its first entry would answer")
        }
        if name == DialectConfiguration.imgproxy {
            guard placement.isAtRoot else {
                throw ConfigurationError(
                    path: path, message: "imgproxy's addresses are at /i/ without a dialect; { imgproxy: / } is for the root")
            }
            return PlacedDialect(configuration: placement, dialect: nil)
        }
        guard let type = dialects.first(where: { $0.name == name }) else {
            throw ConfigurationError(
                path: path,
                message: unknownName(name, kind: "dialect", known: dialects.map { $0.name } + [DialectConfiguration.imgproxy]))
        }
        let dialect: any Dialect
        do throws(ConfigurationError) { dialect = try make(type, placement.own) } catch { throw error.under("\(path).\(name)") }
        if let source = dialect.source, configuration.sources[source] == nil {
            throw ConfigurationError(path: path, message: "“\(name)” needs a source with the name “\(source)” under “sources”")
        }
        let placed = PlacedDialect(configuration: placement, dialect: dialect)
        guard !placement.isAtRoot || placed.isSigned else {
            throw ConfigurationError(
                path: path, message: "\(name) cannot be at the root: its addresses do not begin with a signature")
        }
        return placed
    }

    private func make<Made: Dialect>(
        _ type: Made.Type, _ keys: [String: ConfigurationValue]
    ) throws(ConfigurationError) -> any Dialect {
        try Made(try ConfigurationDecoder().decode(DialectKeys<Made.Configuration>.self, from: .mapping(keys)).own)
    }

    /// The keys of a dialect. Those of its place are elsewhere, and known here to find what is misspelt.
    private struct DialectKeys<Own: Decodable>: Decodable {
        let own: Own

        init(from decoder: any Decoder) throws {
            _ = try DialectConfiguration.Place(from: decoder)
            own = try Own(from: decoder)
        }
    }

    /// Creates a plugin from its part of the configuration.
    /// - Throws: `ConfigurationError` with `path` before the plugin's own path.
    fileprivate func make<Made: Plugin>(
        _ type: Made.Type, configuration value: ConfigurationValue, context: PluginContext, at path: String
    ) throws(ConfigurationError) -> Made {
        do throws(ConfigurationError) {
            let configuration = try ConfigurationDecoder().decode(Made.Configuration.self, from: value)
            do {
                return try Made(configuration, context: context)
            } catch let error as ConfigurationError {
                throw error
            } catch {
                throw ConfigurationError(path: "", message: "\(error)")
            }
        } catch {
            throw error.under(path)
        }
    }

    /// Decodes a plugin's configuration without creating the plugin.
    fileprivate func check<Made: Plugin>(
        _ type: Made.Type, configuration value: ConfigurationValue, at path: String
    ) throws(ConfigurationError) {
        do throws(ConfigurationError) {
            _ = try ConfigurationDecoder().decode(Made.Configuration.self, from: value)
        } catch {
            throw error.under(path)
        }
    }
}
