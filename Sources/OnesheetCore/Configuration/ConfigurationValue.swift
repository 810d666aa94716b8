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
    public private(set) var path: String
    public private(set) var message: String
    /// The key below `path` that is wrong itself, such as an unknown one.
    package private(set) var key: String?
    /// The file, line and column, if they are known.
    package var place: String?

    public init(path: String, message: String) {
        self.path = path
        self.message = message
    }

    /// - Parameter key: the key below `path` that is wrong itself.
    package init(path: String, key: String, message: String) {
        self.init(path: path, message: message)
        self.key = key
    }

    init(path: [any CodingKey], key: String? = nil, message: String) {
        self.init(path: path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: "."), message: message)
        self.key = key
    }

    /// The same error for an inner configuration that stands at `prefix` of an outer one.
    public func under(_ prefix: String) -> Self {
        var outer = self
        outer.path = path.isEmpty ? prefix : "\(prefix).\(path)"
        return outer
    }

    /// The same error with more words at its end.
    package func adding(_ words: String) -> Self {
        var longer = self
        longer.message += words
        return longer
    }

    public var description: String {
        (place.map { "\($0): " } ?? "") + (path.isEmpty ? message : "\(path): \(message)")
    }
}
