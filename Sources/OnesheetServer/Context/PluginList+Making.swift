package import OnesheetCore

extension PluginList {
    /// The source type with this name.
    package func source(_ name: String, at path: String) throws(ConfigurationError) -> any SourcePlugin.Type {
        guard let type = sources.first(where: { $0.type == name }) else {
            throw ConfigurationError(path: path, message: unknownName(name, kind: "source type", known: sources.map { $0.type }))
        }
        return type
    }

    /// The tier type with this name.
    func tier(_ name: String, at path: String) throws(ConfigurationError) -> any TierPlugin.Type {
        guard let type = tiers.first(where: { $0.type == name }) else {
            throw ConfigurationError(path: path, message: unknownName(name, kind: "tier type", known: tiers.map { $0.type }))
        }
        return type
    }

    /// The dialects with these names.
    func dialects(_ names: [String]) throws(ConfigurationError) -> [any Dialect] {
        var made: [any Dialect] = []
        for (index, name) in names.enumerated() {
            guard let type = dialects.first(where: { $0.name == name }) else {
                throw ConfigurationError(
                    path: "dialects.[\(index)]", message: unknownName(name, kind: "dialect", known: dialects.map { $0.name }))
            }
            made.append(type.init())
        }
        return made
    }

    /// Creates a plugin from its part of the configuration.
    /// - Throws: `ConfigurationError` with `path` before the plugin's own path.
    func make<Made: Plugin>(
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
    func check<Made: Plugin>(
        _ type: Made.Type, configuration value: ConfigurationValue, at path: String
    ) throws(ConfigurationError) {
        do throws(ConfigurationError) {
            _ = try ConfigurationDecoder().decode(Made.Configuration.self, from: value)
        } catch {
            throw error.under(path)
        }
    }
}
