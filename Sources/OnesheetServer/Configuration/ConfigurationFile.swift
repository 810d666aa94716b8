import FoundationEssentials
package import OnesheetCore
import Yams

/// Reads configuration files: YAML 1.1 (Yams), with `${NAME}` for an environment variable and `${NAME:-text}` for a variable with a
/// default.
package struct ConfigurationFile: Sendable {
    /// The default file name.
    package static let defaultName = "onesheet.yaml"

    private let environment: [String: String]

    package init(environment: [String: String]? = nil) { self.environment = environment ?? ProcessInfo.processInfo.environment }

    /// Loads the file at `path`. If `path` is `nil`, loads `onesheet.yaml` if it exists, or else the built-in configuration.
    /// - Throws: `ConfigurationError` with the bad key.
    package func load(_ path: String?) throws(ConfigurationError) -> ServerConfiguration {
        if path == nil && !FileManager.default.fileExists(atPath: Self.defaultName) { return ServerConfiguration() }
        let path = path ?? Self.defaultName
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ConfigurationError(path: "", message: "cannot read the configuration \(path): \(Self.reason(error))")
        }
        do throws(ConfigurationError) {
            return try parse(text)
        } catch {
            throw ConfigurationError(path: error.path, message: "\(error.message) (in \(path))")
        }
    }

    /// Parses a configuration.
    package func parse(_ text: String) throws(ConfigurationError) -> ServerConfiguration {
        let node = try Self.compose(text)
        let value = try value(of: node, at: "")
        var configuration = try ConfigurationDecoder().decode(ServerConfiguration.self, from: value)
        if let names = node?.mapping?["sources"]?.mapping?.keys.compactMap(\.string) { configuration.sourceNames = Array(names) }
        configuration.secrets = secrets(in: text)
        configuration.written = node.map { PrintedValue($0) }
        return configuration
    }

    /// Parses any YAML as a configuration value and expands variables.
    package func value(of text: String) throws(ConfigurationError) -> ConfigurationValue {
        try value(of: try Self.compose(text), at: "")
    }

    /// The values of the variables in `text`.
    private func secrets(in text: String) -> [String] {
        text.split(separator: "${").dropFirst().compactMap { environment[String($0.prefix { $0 != "}" && $0 != ":" })] }
    }

    private static func compose(_ text: String) throws(ConfigurationError) -> Node? {
        do { return try Yams.compose(yaml: text) } catch { throw ConfigurationError(path: "", message: "not valid YAML: \(error)") }
    }

    private func value(of node: Node?, at path: String) throws(ConfigurationError) -> ConfigurationValue {
        switch node {
        case nil: return .mapping([:])
        case .scalar(let scalar):
            if scalar.style == .plain, ["", "~", "null"].contains(scalar.string) { return .null }
            return .scalar(try expand(scalar.string, at: path))
        case .sequence(let sequence):
            var values: [ConfigurationValue] = []
            for (index, node) in sequence.enumerated() { values.append(try value(of: node, at: "\(path)[\(index)]")) }
            return .list(values)
        case .mapping(let mapping):
            var values: [String: ConfigurationValue] = [:]
            for (key, node) in mapping {
                guard let name = key.string else { throw ConfigurationError(path: path, message: "a key is not a string") }
                guard values[name] == nil else { throw ConfigurationError(path: path, message: "the key “\(name)” occurs twice") }
                values[name] = try value(of: node, at: path.isEmpty ? name : "\(path).\(name)")
            }
            return .mapping(values)
        case .alias: throw ConfigurationError(path: path, message: "aliases are not supported")
        }
    }

    private func expand(_ text: String, at path: String) throws(ConfigurationError) -> String {
        guard text != PrintedValue.hiddenText else {
            throw ConfigurationError(
                path: path, message: "“\(text)” stands for a secret that `config print` hides; enter the secret or a ${VARIABLE}")
        }
        var rest = text[...]
        var expanded = ""
        while let start = rest.firstRange(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
            expanded += rest[..<start.lowerBound]
            let inner = rest[start.upperBound..<end]
            let separator = inner.firstRange(of: ":-")
            let name = String(inner[..<(separator?.lowerBound ?? inner.endIndex)])
            if let value = environment[name], !value.isEmpty {
                expanded += value
            } else if let separator {
                expanded += inner[separator.upperBound...]
            } else {
                throw ConfigurationError(path: path, message: "the environment variable \(name) is not set")
            }
            rest = rest[rest.index(after: end)...]
        }
        return expanded + rest
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
