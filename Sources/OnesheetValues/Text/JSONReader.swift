/// Parses untrusted JSON (RFC 8259) in one pass and within limits, in linear time for every input.
///
/// Foundation's decoder tries each type for each value, and takes 18 seconds for 30 MiB of short texts.
struct JSONReader {
    /// The deepest nesting of arrays and objects. It bounds the recursion of code that walks a value.
    static let deepest = 64
    /// The number of values, including the names of an object's members.
    static let most = 1_000_000

    private let bytes: [UInt8]
    private var position = 0
    private var count = 0

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        // A byte order mark has no meaning in UTF-8 and may be ignored (§8.1).
        if self.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// The value of the document.
    mutating func document() throws(JSONDamage) -> JSONValue {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw damage("there are bytes after the value") }
        return value
    }

    private mutating func value(depth: Int) throws(JSONDamage) -> JSONValue {
        guard depth <= Self.deepest else { throw damage("lists and objects are nested more than \(Self.deepest) levels deep") }
        count += 1
        guard count <= Self.most else { throw damage("there are more than \(Self.most) values") }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return .object(try object(depth))
        case UInt8(ascii: "["): return .array(try array(depth))
        case UInt8(ascii: "\""): return .string(try text())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func object(_ depth: Int) throws(JSONDamage) -> [String: JSONValue] {
        position += 1
        var members: [String: JSONValue] = [:]
        skipSpace()
        if skip("}") { return members }
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw damage("a member has no name") }
            count += 1
            let name = try text()
            skipSpace()
            guard skip(":") else { throw damage("a member has no value") }
            members[name] = try value(depth: depth + 1)
            skipSpace()
        } while skip(",")
        guard skip("}") else { throw damage("an object does not end") }
        return members
    }

    private mutating func array(_ depth: Int) throws(JSONDamage) -> [JSONValue] {
        position += 1
        var members: [JSONValue] = []
        skipSpace()
        if skip("]") { return members }
        repeat {
            members.append(try value(depth: depth + 1))
            skipSpace()
        } while skip(",")
        guard skip("]") else { throw damage("a list does not end") }
        return members
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONDamage) -> JSONValue {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, bytes[position..<end].elementsEqual("\(word)".utf8) else { throw damage("there is no value") }
        position = end
        return value
    }

    /// §6. A whole number is an integer in every notation. A number beyond the range of this machine is an error.
    private mutating func number() throws(JSONDamage) -> JSONValue {
        let start = position
        _ = skip("-")
        if !skip("0") { guard skipDigits() else { throw damage("there is no value") } }
        var isWhole = true
        if skip(".") {
            isWhole = false
            guard skipDigits() else { throw damage("a number has no digit after its point") }
        }
        if skip("e") || skip("E") {
            isWhole = false
            if !skip("+") { _ = skip("-") }
            guard skipDigits() else { throw damage("a number has no exponent") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let number = Int(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else { throw damage("a number is too large") }
        return Int(exactly: number).map(JSONValue.integer) ?? .number(number)
    }

    private mutating func skipDigits() -> Bool {
        let start = position
        while let byte = peek, (0x30...0x39).contains(byte) { position += 1 }
        return position > start
    }

    /// §7.
    private mutating func text() throws(JSONDamage) -> String {
        position += 1
        let start = position
        var unescaped: [UInt8]?
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                let end = position
                position += 1
                let text =
                    if let unescaped { String(validating: unescaped, as: UTF8.self) } else {
                        String(validating: bytes[start..<end], as: UTF8.self)
                    }
                guard let text else { throw damage("a text is not UTF-8") }
                return text.streamSafe
            case UInt8(ascii: "\\"):
                if unescaped == nil { unescaped = Array(bytes[start..<position]) }
                unescaped?.append(contentsOf: String(try escape()).utf8)
            case ..<0x20: throw damage("a text has a control character in it")
            default:
                unescaped?.append(byte)
                position += 1
            }
        }
        throw damage("a text does not end")
    }

    private mutating func escape() throws(JSONDamage) -> Unicode.Scalar {
        position += 1
        guard let byte = peek else { throw damage("a text does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try unit()
            if let scalar = Unicode.Scalar(first) { return scalar }
            // The first half of a pair (RFC 8259 §7), or the second without a first.
            guard first < 0xDC00, skip("\\"), skip("u"), case let second = try unit(), (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + ((UInt32(first) - 0xD800) << 10) + (UInt32(second) - 0xDC00))
            else { throw damage("an escape is not a character") }
            return scalar
        default: throw damage("an escape is unknown")
        }
    }

    private mutating func unit() throws(JSONDamage) -> UInt16 {
        guard position + 4 <= bytes.count else { throw damage("a text does not end") }
        var unit: UInt16 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw damage("an escape is not a character") }
            unit = unit << 4 | UInt16(digit)
        }
        position += 4
        return unit
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: mark) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func damage(_ reason: String) -> JSONDamage { JSONDamage(reason: reason, offset: position) }
}

/// The reason for which bytes are not JSON or exceed the limits.
package struct JSONDamage: Error, Equatable, CustomStringConvertible {
    package let reason: String
    /// The offset in bytes.
    package let offset: Int

    package var description: String { "\(reason), at byte \(offset)" }
}

extension JSONValue {
    /// Parses a document (RFC 8259) with at most a million values and 64 levels of nesting. A whole number is an integer in every
    /// notation. The last of several members with one name counts.
    package init(reading bytes: some Sequence<UInt8>) throws(JSONDamage) {
        var reader = JSONReader(bytes)
        self = try reader.document()
    }
}
