/// Decodes a `Decodable` value from a configuration and rejects unknown keys.
public struct ConfigurationDecoder: Sendable {
    public init() {}

    /// - Throws: `ConfigurationError` with the path of the value: an unknown key with the nearest known one, a missing key, an
    ///   invalid value.
    public func decode<Value: Decodable>(_ type: Value.Type, from value: ConfigurationValue) throws(ConfigurationError) -> Value {
        let decoder = ConfigurationDecoding(value: value, codingPath: [])
        do {
            return try decoder.read(type)
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

/// One value during decoding. It records the keys that its reader asks for and reports the others.
final class ConfigurationDecoding: Decoder {
    let value: ConfigurationValue
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var asked: Set<String>?
    /// The keys that the reader of this value could ask for.
    private var possible: Set<String> = []
    /// Containers that a reader opened itself. Their unread keys are unknown too.
    private var opened: [ConfigurationDecoding] = []

    init(value: ConfigurationValue, codingPath: [any CodingKey]) {
        (self.value, self.codingPath) = (value, codingPath)
    }

    func ask(for key: String) { asked?.insert(key) }

    /// The decoder for the value of one key or index, for a reader that continues by itself.
    func open(_ value: ConfigurationValue, at key: any CodingKey) -> ConfigurationDecoding {
        let inner = ConfigurationDecoding(value: value, codingPath: codingPath + [key])
        opened.append(inner)
        return inner
    }

    /// - Throws: `ConfigurationError` for the first unknown key.
    func refuseUnknownKeys() throws {
        for inner in opened { try inner.refuseUnknownKeys() }
        guard let asked, case .mapping(let keys) = value, let unknown = keys.keys.sorted().first(where: { !asked.contains($0) })
        else { return }
        throw ConfigurationError(path: codingPath, message: unknownName(unknown, kind: "key", known: asked))
    }

    /// Decodes the value of one key or index.
    func decode<Value: Decodable>(_ type: Value.Type, _ value: ConfigurationValue, at key: any CodingKey) throws -> Value {
        try ConfigurationDecoding(value: value, codingPath: codingPath + [key]).read(type)
    }

    /// Decodes the whole value. If it has an unknown key as well as another error, reports the key: a misspelt key is the more
    /// likely cause.
    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let decoded: Value
        do {
            decoded = try Value(from: self)
        } catch {
            try refuseMisspeltKeys()
            throw error
        }
        try refuseUnknownKeys()
        return decoded
    }

    private func refuseMisspeltKeys() throws {
        guard let asked, case .mapping(let keys) = value else { return }
        for key in keys.keys.sorted() where !possible.contains(key) && nearestName(to: key, among: asked) != nil {
            throw ConfigurationError(path: codingPath, message: unknownName(key, kind: "key", known: asked))
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        switch value {
        case .mapping(let keys):
            if asked == nil { asked = [] }
            possible.formUnion(keys.keys.filter { Key(stringValue: $0) != nil })
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
