package import Logging
import OnesheetCache
package import OnesheetCore
package import OnesheetPipeline

/// Makes plugins from their configurations, each with a context of its own.
package struct PluginAssembly: Sendable {
    let plugins: PluginList
    package var transport: any HTTPTransport
    let limits: Limits
    let clock: WallClock
    let logger: Logger
    package var state: @Sendable (String) -> any KeyValueState
    /// What sources' answers are counted in.
    var memory: MemoryBudget?

    package init(
        plugins: PluginList, transport: any HTTPTransport, limits: Limits, clock: WallClock, logger: Logger,
        state: @escaping @Sendable (String) -> any KeyValueState, memory: MemoryBudget? = nil
    ) {
        (self.plugins, self.transport, self.limits, self.clock, self.logger) = (plugins, transport, limits, clock, logger)
        (self.state, self.memory) = (state, memory)
    }

    /// The source that the configuration calls `name`.
    package func source(_ nested: NestedSource, named name: String) throws(ConfigurationError) -> any ContentSource {
        let path = "sources.\(name)"
        let type = try plugins.source(nested.type, at: "\(path).type")
        let (configuration, limits) = try nested.withoutLimits(at: path)
        var context = context(for: name)
        context.transport = LimitedTransport(context.transport, limits, memory: memory)
        context.limits.originBytes = min(context.limits.originBytes, limits.bytes ?? .max)
        return try plugins.make(type, configuration, context, at: path)
    }

    /// The same, held to its limits and watched.
    func source(
        _ nested: NestedSource, named name: String, watchedBy watch: SourceWatch
    ) throws(ConfigurationError) -> any ContentSource {
        let limits = try nested.withoutLimits(at: "sources.\(name)").1
        return WatchedSource(try source(nested, named: name), limits: limits, watch: watch)
    }

    /// All codecs, in the order of the list, each with its own of `configurations`.
    package func codecs(_ configurations: [String: ConfigurationValue]) throws(ConfigurationError) -> [any Codec] {
        let known = plugins.codecs.map { $0.type }
        if let unknown = configurations.keys.sorted().first(where: { !known.contains($0) }) {
            throw ConfigurationError(path: "rendering.codecs", message: unknownName(unknown, kind: "codec", known: known))
        }
        var codecs: [any Codec] = []
        for type in plugins.codecs {
            codecs.append(
                try plugins.make(
                    type, configurations[type.type] ?? .mapping([:]), context(for: type.type), at: "rendering.codecs.\(type.type)"))
        }
        return codecs
    }

    /// The plugins' tiers, in the order in which they are asked.
    /// - Parameter writes: whether they are made. If not, only that they could be is made sure of.
    func tiers(
        _ configurations: [TierConfiguration], writes: Bool
    ) throws(ConfigurationError) -> [(name: String, deadline: Duration, tier: any TierPlugin)] {
        var tiers: [(name: String, deadline: Duration, tier: any TierPlugin)] = []
        for (index, configuration) in configurations.enumerated() {
            let path = "cache.tiers.[\(index)]"
            let type = try plugins.tier(configuration.type, at: "\(path).type")
            guard writes else {
                try plugins.check(type, configuration.configuration, at: path)
                continue
            }
            let context = context(for: configuration.name, keeping: "cache/\(configuration.name)")
            tiers.append(
                (
                    configuration.name, configuration.common.deadline.duration,
                    try plugins.make(type, configuration.configuration, context, at: path)
                ))
        }
        return tiers
    }

    private func context(for name: String, keeping place: String? = nil) -> PluginContext {
        var logger = logger
        logger[metadataKey: "plugin"] = "\(name)"
        return PluginContext(
            name: name, transport: transport, logger: logger, clock: clock, limits: limits, state: state(place ?? name)
        ) { nested, outer in
            // What is configured inside a source shares its name, and has a part of the state for itself.
            let type = try plugins.source(nested.type, at: "type")
            var inner = outer
            inner.state = state("\(outer.name)/\(nested.type)")
            return try plugins.make(type, nested.configuration, inner, at: nested.type)
        }
    }
}

extension NestedSource {
    /// What the plugin is configured with, and what `limits` says, which every source can have beside it.
    func withoutLimits(at path: String) throws(ConfigurationError) -> (ConfigurationValue, SourceLimits) {
        guard case .mapping(var keys) = configuration, let limits = keys.removeValue(forKey: "limits") else {
            return (configuration, SourceLimits())
        }
        do throws(ConfigurationError) {
            return (.mapping(keys), try ConfigurationDecoder().decode(SourceLimits.self, from: limits))
        } catch {
            throw error.under("\(path).limits")
        }
    }
}
