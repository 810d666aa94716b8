internal import FoundationEssentials
public import NIOCore

/// A value that can be written to a cache tier and read back.
public protocol DataConvertible: Sendable {
    /// Reads the value from bytes that `data()` wrote.
    /// - Throws: if the bytes do not represent such a value.
    init(data: ByteBuffer) throws
    /// The value as bytes.
    func data() throws -> ByteBuffer
    /// The media type of those bytes; `application/octet-stream` by default.
    static var mediaType: String { get }
}

extension DataConvertible {
    public static var mediaType: String { "application/octet-stream" }
}

extension ByteBuffer: DataConvertible {
    public init(data: ByteBuffer) { self = data }
    public func data() -> ByteBuffer { self }
}

/// A `Codable` value that cache tiers store as JSON.
public struct JSONCached<Value: Codable & Sendable>: DataConvertible {
    public static var mediaType: String { "application/json" }
    /// The value to store.
    public var value: Value

    public init(_ value: Value) { self.value = value }

    public init(data: ByteBuffer) throws {
        value = try JSONDecoder().decode(Value.self, from: Data(data.readableBytesView))
    }

    public func data() throws -> ByteBuffer { ByteBuffer(bytes: try JSONEncoder().encode(value)) }
}

extension JSONCached: Equatable where Value: Equatable {}
