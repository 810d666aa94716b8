package import NIOCore

extension JSONValue {
    /// Parses a document within the limits of `init(reading:)` for bytes.
    package init(reading buffer: ByteBuffer) throws(JSONDamage) { try self.init(reading: buffer.readableBytesView) }
}
