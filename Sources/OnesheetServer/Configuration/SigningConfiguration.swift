package import OnesheetAddress

/// Keys for signed URLs.
package struct SigningConfiguration: Sendable, Decodable {
    /// Any of these may have signed a URL; the first signs new ones.
    package var keys: [SigningKey] = []
    /// Whether the word `unsafe` is accepted in a signature's place; without keys it is on loopback.
    package var unsafe = false

    /// Bytes of a signature that count, from its beginning: shorter URLs for signatures that are easier to guess.
    package var size = 32

    private enum CodingKeys: CodingKey { case keys, unsafe, size }

    package init() {}

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        keys = try container.decodeIfPresent([SigningKey].self, forKey: .keys) ?? keys
        unsafe = try container.decodeIfPresent(Bool.self, forKey: .unsafe) ?? unsafe
        size = try container.decodeIfPresent(Int.self, forKey: .size) ?? size
        guard (8...32).contains(size) else {
            throw DecodingError.dataCorruptedError(
                forKey: .size, in: container, debugDescription: "“\(size)” is not 8 to 32 bytes; a shorter signature can be guessed"
            )
        }
    }
}

extension Signature {
    /// - Parameter needsKey: whether somebody could ask for more than the operator wants. No key is needed if only this machine can reach
    ///   the server, or if it makes nothing but its presets.
    package init(_ configuration: SigningConfiguration, needsKey: Bool) {
        self.init(
            keys: configuration.keys, size: configuration.size,
            acceptsUnsafe: configuration.unsafe || (configuration.keys.isEmpty && !needsKey))
    }
}
