/// Keys and their values.
struct MappingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoding: ConfigurationDecoding
    let keys: [String: ConfigurationValue]

    var codingPath: [any CodingKey] { decoding.codingPath }

    /// All keys. A reader that takes all of them, such as a dictionary, knows all of them.
    var allKeys: [Key] {
        keys.keys.sorted().forEach { decoding.ask(for: $0) }
        return keys.keys.sorted().compactMap(Key.init(stringValue:))
    }

    func contains(_ key: Key) -> Bool {
        decoding.ask(for: key.stringValue)
        return keys[key.stringValue] != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key) == .null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoding.decode(type, try value(key), at: key)
    }

    /// An optional value. If it is invalid and errors are collected, decoding continues as if it were absent.
    private func present<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        do { return try decode(type, forKey: key) } catch {
            try decoding.noteOrThrow(error)
            return nil
        }
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try present(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try present(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try present(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try present(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try present(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try present(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try present(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try present(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try present(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try present(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try present(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try present(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try present(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try present(type, key) }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? { try present(type, key) }

    private func value(_ key: Key) throws -> ConfigurationValue {
        decoding.ask(for: key.stringValue)
        guard let value = keys[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "missing"))
        }
        return value
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try inner(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try inner(key).unkeyedContainer() }

    func superDecoder() throws -> any Decoder { decoding }
    func superDecoder(forKey key: Key) throws -> any Decoder { try inner(key) }

    private func inner(_ key: Key) throws -> ConfigurationDecoding {
        decoding.open(try value(key), at: key)
    }
}

/// A list of values.
struct ListContainer: UnkeyedDecodingContainer {
    let decoding: ConfigurationDecoding
    let values: [ConfigurationValue]
    var currentIndex = 0

    init(decoding: ConfigurationDecoding, values: [ConfigurationValue]) {
        self.decoding = decoding
        self.values = values
    }

    var codingPath: [any CodingKey] { decoding.codingPath }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, values[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let place = Place(intValue: currentIndex)
        return try decoding.decode(type, try next(), at: place)
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try superDecoder().unkeyedContainer() }

    mutating func superDecoder() throws -> any Decoder {
        let place = Place(intValue: currentIndex)
        return decoding.open(try next(), at: place)
    }

    private mutating func next() throws -> ConfigurationValue {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(String.self, .init(codingPath: codingPath, debugDescription: "the list is too short"))
        }
        defer { currentIndex += 1 }
        return values[currentIndex]
    }

    private struct Place: CodingKey {
        let intValue: Int?
        var stringValue: String { String(intValue ?? 0) }
        init(intValue: Int) { self.intValue = intValue }
        init?(stringValue: String) { nil }
    }
}
