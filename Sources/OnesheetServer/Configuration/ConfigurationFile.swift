import FoundationEssentials
package import OnesheetCore
import Yams

/// Reads configuration files: YAML 1.1 (Yams), with `${NAME}` for an environment variable and `${NAME:-text}` for a variable with a
/// default.
package struct ConfigurationFile: Sendable {
    /// The default file name.
    package static let defaultName = "onesheet.yaml"

    private let environment: [String: String]
    private let base: EnvironmentConfiguration

    package init(environment: [String: String]? = nil) {
        self.environment = environment ?? ProcessInfo.processInfo.environment
        base = EnvironmentConfiguration(self.environment)
    }

    /// - Parameters:
    ///   - kept: keys that the server has made for itself. Variables of the environment come before them.
    ///   - usesThem: `true` if they also replace keys that the configuration lacks; `false` if they only fill the variables that it names.
    package init(environment: [String: String]? = nil, kept: [String: String], usesThem: Bool) {
        let own = environment ?? ProcessInfo.processInfo.environment
        var all = own
        // An empty variable counts as unset, and a key goes with its own salt. An empty token turns administration off.
        let pair = ["ONESHEET_SIGNING_KEY", "ONESHEET_SIGNING_SALT"]
        if pair.allSatisfy({ own[$0]?.isEmpty ?? true }) { for name in pair { all[name] = kept[name] ?? own[name] } }
        if own["ONESHEET_ADMIN_TOKEN"] == nil { all["ONESHEET_ADMIN_TOKEN"] = kept["ONESHEET_ADMIN_TOKEN"] }
        self.environment = all
        base = EnvironmentConfiguration(usesThem ? self.environment : own)
    }

    /// Loads the file at `path`. If `path` is `nil`, loads `onesheet.yaml` if it exists. What it does not say, the environment says.
    /// - Throws: `ConfigurationError` with the first bad key and its place.
    package func load(_ path: String?) throws(ConfigurationError) -> ServerConfiguration {
        let (configuration, errors) = try examine(path)
        if let first = errors.first {
            throw errors.count > 1 ? first.adding("; `onesheet config check` lists all errors") : first
        }
        return configuration
    }

    /// Loads the file that `load(_:)` loads, as far as it can be read.
    /// - Returns: the configuration without what is wrong, and all errors in the order of the file.
    /// - Throws: `ConfigurationError` if there is no such file, or nothing in it can be read.
    package func examine(
        _ path: String?
    ) throws(ConfigurationError) -> (configuration: ServerConfiguration, errors: [ConfigurationError]) {
        if path == nil && !FileManager.default.fileExists(atPath: Self.defaultName) { return try examine(text: "", file: nil) }
        let path = path ?? Self.defaultName
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ConfigurationError(path: "", message: "cannot read the configuration \(path): \(Self.reason(error))")
        }
        return try examine(text: text, file: path)
    }

    /// Parses a configuration.
    /// - Throws: `ConfigurationError` with the first bad key.
    package func parse(_ text: String) throws(ConfigurationError) -> ServerConfiguration {
        let (configuration, errors) = try examine(text: text, file: nil)
        if let first = errors.first { throw first }
        return configuration
    }

    /// Parses a configuration as far as it can be read.
    /// - Parameter file: the name of its file, for the places of errors.
    package func examine(
        text: String, file: String?
    ) throws(ConfigurationError) -> (configuration: ServerConfiguration, errors: [ConfigurationError]) {
        let document = ConfigurationText(text, file: file, environment: environment, base: base)
        if document.node == nil, let error = document.errors.first { throw error }
        let (decoded, errors) = ConfigurationDecoder().decodeAll(ServerConfiguration.self, from: document.value)
        let written = document.node.map { PrintedValue($0) }
        var found = document.errors + Self.independent(errors, of: document.errors)
        // A variable may be empty and turns administration off. A token that is written empty is a mistake.
        if written?["admin"]?["token"] == .text("") { found.append(AdminConfiguration.weak("is empty")) }
        let all = document.places.locating(all: found)
        guard var configuration = decoded else { throw all.first ?? ConfigurationError(path: "", message: "needs keys below it") }
        if let names = document.node?.mapping?["sources"]?.mapping?.keys.compactMap(\.string) {
            configuration.sourceNames = names.filter { configuration.sources[$0] != nil }
        }
        if document.places.variables.keys.contains(where: { $0.hasPrefix("sources.") }) { configuration.notes = base.notes }
        configuration.secrets = secrets(in: text + base.text) + (written?.secretTexts ?? [])
        configuration.written = written
        configuration.places = document.places
        return (configuration, all)
    }

    /// `errors` without those that follow from others: a value that could not be read is missing for its reader, and a source that could
    /// not be decoded is missing for the rest.
    /// - Parameter unread: the errors of values that could not be read.
    private static func independent(_ errors: [ConfigurationError], of unread: [ConfigurationError]) -> [ConfigurationError] {
        let all = unread + errors
        let misses = all.contains { $0.path.starts(withBytesOf: "sources.") }
        return errors.filter { error in
            if unread.contains(where: { $0.key == nil && $0.path == error.path }) { return false }
            if error.path == "sources", error.key == nil { return !misses }
            guard let (line, key) = error.path.cut(atLast: "."), key == "source", line.starts(withBytesOf: "prefetch.") else {
                return true
            }
            return !misses && !all.contains { $0 != error && ($0.path.isExactly(line) || $0.path.starts(withBytesOf: "\(line).")) }
        }
    }

    /// Parses any YAML as a configuration value and expands variables.
    package func value(of text: String) throws(ConfigurationError) -> ConfigurationValue {
        let document = ConfigurationText(text, file: nil, environment: environment)
        if let error = document.errors.first { throw error }
        return document.value
    }

    /// The values of the variables in `text`.
    private func secrets(in text: String) -> [String] {
        text.split(separator: "${").dropFirst().compactMap { environment[String($0.prefix { $0 != "}" && $0 != ":" })] }
    }

    package static func reason(_ error: any Error) -> String {
        guard let error = error as? CocoaError else { return "\(error)" }
        switch error.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: return "the file does not exist"
        case .fileReadNoPermission: return "permission denied"
        case .fileReadInapplicableStringEncoding: return "it is not UTF-8"
        default: return "error \(error.code.rawValue)"
        }
    }
}
