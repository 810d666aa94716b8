/// Reads a `Decodable` value from a configuration, and refuses keys that the value does not know.
public struct ConfigurationDecoder: Sendable {
    public init() {}

    /// - Throws: `ConfigurationError` with the path of what is wrong: an unknown key with the nearest known one, a missing key, a bad value.
    public func decode<Value: Decodable>(_ type: Value.Type, from value: ConfigurationValue) throws(ConfigurationError) -> Value {
        let decoder = ConfigurationDecoding(value: value, codingPath: [])
        do {
            let decoded = try Value(from: decoder)
            try decoder.refuseUnknownKeys()
            return decoded
        } catch let error as ConfigurationError {
            throw error
        } catch DecodingError.keyNotFound(let key, let context) {
            throw ConfigurationError(path: context.codingPath, message: "“\(key.stringValue)” is missing")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context)
        {
            throw ConfigurationError(path: context.codingPath, message: context.debugDescription)
        } catch {
            throw ConfigurationError(path: "", message: "\(error)")
        }
    }
}

/// One value being decoded. It keeps which keys were asked for, so that the others can be named.
final class ConfigurationDecoding: Decoder {
    let value: ConfigurationValue
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var asked: Set<String>?

    init(value: ConfigurationValue, codingPath: [any CodingKey]) {
        (self.value, self.codingPath) = (value, codingPath)
    }

    func ask(for key: String) { asked?.insert(key) }

    /// - Throws: `ConfigurationError` for the first key that nobody asked for.
    func refuseUnknownKeys() throws {
        guard let asked, case .mapping(let keys) = value, let unknown = keys.keys.sorted().first(where: { !asked.contains($0) })
        else { return }
        throw ConfigurationError(path: codingPath, message: unknownName(unknown, kind: "key", known: asked))
    }

    /// Decodes the value of one key or place below this one.
    func decode<Value: Decodable>(_ type: Value.Type, _ value: ConfigurationValue, at key: any CodingKey) throws -> Value {
        let inner = ConfigurationDecoding(value: value, codingPath: codingPath + [key])
        let decoded = try Value(from: inner)
        try inner.refuseUnknownKeys()
        return decoded
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        switch value {
        case .mapping(let keys):
            if asked == nil { asked = [] }
            return KeyedDecodingContainer(MappingContainer(decoding: self, keys: keys))
        case .null:
            return KeyedDecodingContainer(MappingContainer(decoding: self, keys: [:]))
        case .scalar, .list:
            throw mismatch([String: String].self, "needs keys below it")
        }
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .list(let values) = value else { throw mismatch([String].self, "needs a list") }
        return ListContainer(decoding: self, values: values)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ScalarContainer(decoding: self) }

    func mismatch(_ type: Any.Type, _ message: String) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: message))
    }
}
