/// A configuration as written, before any plugin has read it. Scalars are text: what they mean is their reader's business.
public enum ConfigurationValue: Sendable, Equatable {
    case null
    case scalar(String)
    case list([ConfigurationValue])
    case mapping([String: ConfigurationValue])
}

extension ConfigurationValue: Decodable {
    /// Takes the value as it stands, with every key below it; only for `ConfigurationDecoder`.
    public init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? ConfigurationDecoding else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a ConfigurationValue comes from a configuration only"))
        }
        self = decoder.value
    }
}

/// A configuration that cannot be used.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The keys from the top to the value, joined with dots; empty for the whole.
    public let path: String
    public let message: String

    public init(path: String, message: String) {
        (self.path, self.message) = (path, message)
    }

    init(path: [any CodingKey], message: String) {
        self.init(path: path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: "."), message: message)
    }

    /// The same error seen from outside, `prefix` being where the inner configuration stands.
    public func under(_ prefix: String) -> Self {
        Self(path: path.isEmpty ? prefix : "\(prefix).\(path)", message: message)
    }

    public var description: String { path.isEmpty ? message : "\(path): \(message)" }
}
