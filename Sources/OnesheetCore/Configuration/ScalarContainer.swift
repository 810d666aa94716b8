/// One text, decoded as the requested type.
struct ScalarContainer: SingleValueDecodingContainer {
    let decoding: ConfigurationDecoding

    var codingPath: [any CodingKey] { decoding.codingPath }

    func decodeNil() -> Bool { decoding.value == .null }

    func decode(_ type: String.Type) throws -> String {
        guard case .scalar(let text) = decoding.value else { throw decoding.mismatch(type, "needs a text") }
        return text
    }

    func decode(_ type: Bool.Type) throws -> Bool {
        switch try decode(String.self) {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        case let text: throw decoding.mismatch(type, "“\(text)” is neither true nor false")
        }
    }

    func decode(_ type: Double.Type) throws -> Double { try number(type) }
    func decode(_ type: Float.Type) throws -> Float { try number(type) }
    func decode(_ type: Int.Type) throws -> Int { try number(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try number(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try number(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try number(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try number(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try number(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try number(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try number(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try number(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try number(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: decoding) }

    private func number<Number: LosslessStringConvertible>(_ type: Number.Type) throws -> Number {
        let text = try decode(String.self)
        guard let number = Number(text) else { throw decoding.mismatch(type, "“\(text)” is not a number that fits here") }
        return number
    }
}
