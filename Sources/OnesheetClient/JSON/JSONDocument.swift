internal import OnesheetValues

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decodes JSON from outside: parses it within limits and in linear time, then decodes the values. Foundation's decoder tries each type for
/// each value of unknown type, and such values are in the metadata of titles.
enum JSONDocument {
    /// - Throws: `ClientError.unreadable`.
    static func decode<Document: Decodable>(_ type: Document.Type, from bytes: [UInt8]) throws(ClientError) -> Document {
        do {
            return try Document(from: JSONValueDecoder(value: try JSONValue(reading: bytes), codingPath: []))
        } catch let damage as JSONDamage {
            throw .unreadable("it is not JSON: \(damage)")
        } catch let error as DecodingError {
            throw .unreadable(Self.reason(error))
        } catch {
            throw .unreadable("\(error)")
        }
    }

    private static func reason(_ error: DecodingError) -> String {
        let (context, reason): (DecodingError.Context?, String) =
            switch error {
            case .typeMismatch(_, let context), .dataCorrupted(let context): (context, context.debugDescription)
            case .keyNotFound(let key, let context): (context, "“\(key.stringValue)” is missing")
            default: (nil, "a value is missing")
            }
        let path = (context?.codingPath ?? []).map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.joined(separator: ".")
        return path.isEmpty ? reason : "\(path): \(reason)"
    }
}
