#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Reads the fields of a title or of a candidate by the type of their values. A field that is absent or null is `nil`.
package protocol FieldReader<Key> {
    associatedtype Key: CodingKey
    associatedtype Failure: Error

    func required(_ field: Key) throws(Failure) -> String
    func text(_ field: Key) throws(Failure) -> String?
    func whole(_ field: Key) throws(Failure) -> Int?
    func day(_ field: Key) throws(Failure) -> CalendarDay?
    func moment(_ field: Key) throws(Failure) -> Date?
    func details(_ field: Key) throws(Failure) -> [String: JSONValue]
    /// The value whatever its type, for fields whose wrong values are left out.
    /// - Parameter isNumber: whether it should be a number and not a text, which is a hint.
    func value(_ field: Key, isNumber: Bool) throws(Failure) -> JSONValue?
}

extension KeyedDecodingContainer: FieldReader {
    package func required(_ field: Key) throws -> String { try decode(String.self, forKey: field) }
    package func text(_ field: Key) throws -> String? { try decodeIfPresent(String.self, forKey: field) }
    package func whole(_ field: Key) throws -> Int? { try decodeIfPresent(Int.self, forKey: field) }
    package func day(_ field: Key) throws -> CalendarDay? { try decodeIfPresent(CalendarDay.self, forKey: field) }
    package func moment(_ field: Key) throws -> Date? { try decodeIfPresent(Date.self, forKey: field) }
    package func details(_ field: Key) throws -> [String: JSONValue] {
        try decodeIfPresent([String: JSONValue].self, forKey: field) ?? [:]
    }
    package func value(_ field: Key, isNumber: Bool) throws -> JSONValue? {
        guard contains(field), try !decodeNil(forKey: field) else { return nil }
        // A value of unknown type is tried as each of them, which takes longest for texts.
        do {
            return isNumber ? .number(try decode(Double.self, forKey: field)) : .string(try decode(String.self, forKey: field))
        } catch is DecodingError {
            return try decode(JSONValue.self, forKey: field)
        }
    }
}
