/// A configuration before a plugin has decoded it. Scalars are text; their reader interprets them.
public enum ConfigurationValue: Sendable, Equatable {
    case null
    case scalar(String)
    case list([ConfigurationValue])
    case mapping([String: ConfigurationValue])
}

extension ConfigurationValue: Decodable {
    /// Takes the value with all keys below it. Only `ConfigurationDecoder` supports it.
    public init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? ConfigurationDecoding else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "only ConfigurationDecoder decodes a ConfigurationValue"))
        }
        self = decoder.value
    }
}

/// An invalid configuration.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The path of keys to the value, joined with dots; empty for the whole configuration.
    public let path: String
    public let message: String

    public init(path: String, message: String) {
        (self.path, self.message) = (path, message)
    }

    init(path: [any CodingKey], message: String) {
        self.init(path: path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: "."), message: message)
    }

    /// The same error for an inner configuration that stands at `prefix` of an outer one.
    public func under(_ prefix: String) -> Self {
        Self(path: path.isEmpty ? prefix : "\(prefix).\(path)", message: message)
    }

    public var description: String { path.isEmpty ? message : "\(path): \(message)" }
}
