internal import FoundationEssentials
public import NIOCore

/// A `Codable` value that cache tiers store as JSON.
public struct JSONCached<Value: Codable & Sendable>: DataConvertible {
    public static var mediaType: String { "application/json" }
    public var value: Value

    public init(_ value: Value) { self.value = value }

    public init(data: ByteBuffer) throws {
        value = try JSONDecoder().decode(Value.self, from: Data(data.readableBytesView))
    }

    public func data() throws -> ByteBuffer { ByteBuffer(bytes: try JSONEncoder().encode(value)) }
}

extension JSONCached: Equatable where Value: Equatable {}
