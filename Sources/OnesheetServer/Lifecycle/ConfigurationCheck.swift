package import Logging
import OnesheetAddress
import OnesheetCache
package import OnesheetCore
import OnesheetImaging
import OnesheetPipeline

/// Finds all errors of a configuration, including those that only its plugins can find. It writes nothing.
package final class ConfigurationCheck {
    private let configuration: ServerConfiguration
    private let plugins: PluginList
    private let assembly: PluginAssembly
    private var errors: [ConfigurationError]
    private var capabilities: [String: SourceCapabilities] = [:]
    private var dialects: [any Dialect] = []

    /// All errors, in the order of the file.
    /// - Parameters:
    ///   - configuration: the configuration, as far as it could be read.
    ///   - errors: the errors of reading it.
    package static func errors(
        of configuration: ServerConfiguration, _ plugins: PluginList, besides errors: [ConfigurationError], logger: Logger
    ) throws -> [ConfigurationError] {
        let state = try StateStore()
        var assembly = PluginAssembly(
            plugins: plugins, transport: NoTransport(), limits: configuration.limits.limits, clock: .system, logger: logger,
            state: { state.part($0) })
        assembly.configured = configuration.sources
        let check = ConfigurationCheck(configuration, plugins: plugins, assembly: assembly, besides: errors)
        check.checkAll()
        return configuration.places.locating(all: check.errors)
    }

    private init(
        _ configuration: ServerConfiguration, plugins: PluginList, assembly: PluginAssembly,
        besides errors: [ConfigurationError]
    ) {
        self.configuration = configuration
        self.plugins = plugins
        self.assembly = assembly
        self.errors = errors
    }

    private func checkAll() {
        for name in configuration.sourceNames where !hasErrors(at: "sources.\(name)") { checkSource(name) }
        for (index, tier) in configuration.cache.tiers.enumerated() where !hasErrors(at: "cache.tiers.[\(index)]") {
            note { try assembly.check(tier, at: "cache.tiers.[\(index)]") }
        }
        if !hasErrors(at: "shared") { note { try assembly.checkBackends(configuration.shared) } }
        for index in configuration.dialects.indices {
            let placed = note { try plugins.dialect(at: index, of: configuration) }
            if let dialect = placed?.dialect { dialects.append(dialect) }
        }
        checkRendering()
        if !["listen", "signing", "sources", "presetsOnly"].contains(where: hasErrors) {
            note { try configuration.requireProtection() }
        }
        if !hasErrors(at: "listen") { note { try ListenTrial(address: configuration.listen).runBesideServer() } }
        if let files = configuration.tls, !hasErrors(at: "tls") { note { _ = try Certificate(files) } }
        note { try configuration.accessLog.requireFolder() }
    }

    /// Checks the keys of a source and those of the server separately: each may have errors of its own.
    private func checkSource(_ name: String) {
        guard let nested = configuration.sources[name] else { return }
        let path = "sources.\(name)"
        do {
            let type = try plugins.source(nested.type, at: "\(path).type")
            let (own, server) = nested.splitKeys
            errors += ConfigurationDecoder().decodeAll(SourceSettings.self, from: server).errors.map { $0.under(path) }
            errors += ConfigurationDecoder().errors(of: type, in: own).map { $0.under(path) }
        } catch {
            errors.append(ConfigurationError(error))
        }
        guard !hasErrors(at: path) else { return }
        capabilities[name] = note { try assembly.source(nested, named: name) }?.capabilities
    }

    /// Checks codecs, and the presets and the schedule, which need their formats.
    private func checkRendering() {
        let rendering = configuration.rendering
        let types: [any Plugin.Type] = plugins.codecs + plugins.decoders
        let known = Dictionary(types.map { ($0.type, $0) }, uniquingKeysWith: { first, _ in first })
        for (name, value) in rendering.codecs.sorted(by: { $0.key < $1.key }) {
            guard let type = known[name] else {
                errors.append(
                    ConfigurationError(
                        path: "rendering.codecs", key: name,
                        message: unknownName(name, kind: "codec", known: known.keys)))
                continue
            }
            errors += ConfigurationDecoder().errors(of: type, in: value).map { $0.under("rendering.codecs.\(name)") }
            if !hasErrors(at: "rendering.codecs.\(name)") { note { _ = try assembly.codecs([name: value]) } }
        }
        do {
            // The formats do not depend on the codecs' keys.
            let isBad = hasErrors(at: "rendering")
            let codecs = try assembly.codecs(isBad ? [:] : rendering.codecs)
            let limits = configuration.limits.limits
            let renderer = isBad ? nil : note { try rendering.renderer(codecs, limits) }
            let formats = try (renderer ?? RenderingConfiguration().renderer(codecs, limits)).formats
            let watermark = renderer.map { $0.watermark?.digest } ?? rendering.watermark.map { _ in "" }
            let bad = ImageOptions.errors(of: configuration.presets, formats: formats, watermark: watermark)
            errors += bad.map { ConfigurationError(path: "presets.\($0.name)", message: "\($0.error)") }
            let options = try ImageOptions(formats: formats, watermark: watermark)
            for (index, line) in configuration.prefetch.enumerated() where !hasErrors(at: "prefetch.[\(index)]") {
                note {
                    try line.check(with: options, capabilities[line.source], hasErrors(at: "dialects") ? nil : dialects, at: index)
                }
            }
        } catch {
            errors.append(ConfigurationError(error))
        }
    }

    /// Whether there are errors at or below `path`.
    private func hasErrors(at path: String) -> Bool {
        errors.contains { $0.path.isExactly(path) || $0.path.starts(withBytesOf: path + ".") }
    }

    /// - Returns: `nil` if `check` found an error.
    @discardableResult
    private func note<Value>(_ check: () throws -> Value) -> Value? {
        do { return try check() } catch {
            errors.append(ConfigurationError(error))
            return nil
        }
    }
}

/// Plugins ask nothing while they are created.
private struct NoTransport: HTTPTransport {
    func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        throw .failed(url: request.url, reason: "the configuration is only checked")
    }
}

extension ConfigurationDecoder {
    /// The errors of a plugin's own configuration.
    fileprivate func errors<Made: Plugin>(of type: Made.Type, in value: ConfigurationValue) -> [ConfigurationError] {
        decodeAll(Made.Configuration.self, from: value).errors
    }
}
