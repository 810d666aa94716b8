internal import FoundationEssentials
package import NIOCore

extension JSONValue {
    /// Parses a document within the limits of `init(reading:)` for bytes.
    package init(reading buffer: ByteBuffer) throws(JSONDamage) { try self.init(reading: buffer.readableBytesView) }
}

extension Decodable {
    /// Reads a value of this type from JSON from outside, within the limits of `JSONReader`.
    ///
    /// Foundation's decoder takes long for some documents, such as ones with a name of many combining marks, which it hashes
    /// (`isStreamSafe`). So it gets what `JSONReader` has read.
    /// - Throws: `JSONDamage` or `DecodingError`.
    package init(readingJSON buffer: ByteBuffer) throws {
        self = try JSONDecoder().decode(Self.self, from: try JSONEncoder().encode(JSONValue(reading: buffer)))
    }
}
