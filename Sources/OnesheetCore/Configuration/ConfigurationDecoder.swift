/// Decodes a `Decodable` value from a configuration and rejects unknown keys.
public struct ConfigurationDecoder: Sendable {
    public init() {}

    /// - Throws: `ConfigurationError` with the path of the value: an unknown key with the nearest known one, a missing key, an
    ///   invalid value.
    public func decode<Value: Decodable>(_ type: Value.Type, from value: ConfigurationValue) throws(ConfigurationError) -> Value {
        do {
            return try ConfigurationDecoding(value: value, codingPath: []).read(type)
        } catch {
            throw ConfigurationError(error)
        }
    }

    /// Decodes as much of `value` as can be decoded.
    /// - Returns: the value, if any, and all errors. A value with errors is incomplete; use it only to find more errors.
    package func decodeAll<Value: Decodable>(
        _ type: Value.Type, from value: ConfigurationValue
    ) -> (value: Value?, errors: [ConfigurationError]) {
        let errors = ConfigurationErrors()
        do {
            return (try ConfigurationDecoding(value: value, codingPath: [], errors: errors).read(type), errors.all)
        } catch {
            errors.note(error)
            return (nil, errors.all)
        }
    }
}

/// One value during decoding. It records the keys that its reader asks for and reports the others.
final class ConfigurationDecoding: Decoder {
    let value: ConfigurationValue
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    /// Collects errors so that decoding continues; `nil` throws the first one.
    let errors: ConfigurationErrors?
    private var asked: Set<String>?
    /// The keys that the reader of this value could ask for.
    private var possible: Set<String> = []
    /// Containers that a reader opened itself. Their unread keys are unknown too.
    private var opened: [ConfigurationDecoding] = []

    init(value: ConfigurationValue, codingPath: [any CodingKey], errors: ConfigurationErrors? = nil) {
        self.value = value
        self.codingPath = codingPath
        self.errors = errors
    }

    func ask(for key: String) { asked?.insert(key) }

    /// The decoder for the value of one key or index, for a reader that continues by itself.
    func open(_ value: ConfigurationValue, at key: any CodingKey) -> ConfigurationDecoding {
        let inner = ConfigurationDecoding(value: value, codingPath: codingPath + [key], errors: errors)
        opened.append(inner)
        return inner
    }

    /// - Throws: `ConfigurationError` for the first unknown key, if errors are not noted.
    func refuseUnknownKeys() throws {
        for inner in opened { try inner.refuseUnknownKeys() }
        guard let asked, case .mapping(let keys) = value else { return }
        for key in keys.keys.sorted() where !asked.contains(key) {
            let error = ConfigurationError(path: codingPath, key: key, message: unknownName(key, kind: "key", known: asked))
            guard let errors else { throw error }
            errors.note(unknown: error, near: nearestName(to: key, among: asked))
        }
    }

    /// Decodes the value of one key or index.
    func decode<Value: Decodable>(_ type: Value.Type, _ value: ConfigurationValue, at key: any CodingKey) throws -> Value {
        try ConfigurationDecoding(value: value, codingPath: codingPath + [key], errors: errors).read(type)
    }

    /// Decodes the whole value. If it has an unknown key as well as another error, reports the key: a misspelt key is the more
    /// likely cause.
    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let decoded: Value
        do {
            if let errors, let collection = Value.self as? any ElementwiseDecodable.Type,
                let elements = try collection.decode(self, noting: errors) as? Value
            {
                decoded = elements
            } else {
                decoded = try Value(from: self)
            }
        } catch {
            let misspelt = misspeltKeys
            guard let errors else { throw misspelt.first?.error ?? error }
            errors.note(error)
            for (error, known) in misspelt { errors.note(unknown: error, near: known) }
            throw AlreadyNoted()
        }
        try refuseUnknownKeys()
        return decoded
    }

    /// The keys that are near one of those that the reader has asked for, and not among those that it could ask for.
    private var misspeltKeys: [(error: ConfigurationError, known: String)] {
        guard let asked, case .mapping(let keys) = value else { return [] }
        return keys.keys.sorted().filter { !possible.contains($0) }.compactMap { key in
            nearestName(to: key, among: asked).map { known in
                (ConfigurationError(path: codingPath, key: key, message: unknownName(key, kind: "key", known: asked)), known)
            }
        }
    }

    /// Notes `error` if errors are noted, so that decoding can go on without the value.
    func noteOrThrow(_ error: any Error) throws {
        guard let errors else { throw error }
        errors.note(error)
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

/// Ends the decoding of a value whose errors are noted.
struct AlreadyNoted: Error {}
