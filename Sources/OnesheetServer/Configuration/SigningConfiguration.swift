import OnesheetCore

/// Keys for signed URLs.
package struct SigningConfiguration: Sendable, Decodable {
    /// A key and its salt, as bytes.
    package struct Pair: Sendable, Decodable {
        package let key: [UInt8]
        package let salt: [UInt8]

        private enum CodingKeys: CodingKey { case key, salt }

        package init(key: [UInt8], salt: [UInt8]) { (self.key, self.salt) = (key, salt) }

        package init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            func bytes(_ key: CodingKeys) throws -> [UInt8] {
                let text = try keys.decode(String.self, forKey: key)
                guard let bytes = [UInt8](hex: text), !bytes.isEmpty else {
                    throw DecodingError.dataCorruptedError(
                        forKey: key, in: keys,
                        debugDescription: "needs an even number of hexadecimal digits, such as `openssl rand -hex 32` prints")
                }
                return bytes
            }
            self.init(key: try bytes(.key), salt: try bytes(.salt))
        }
    }

    /// Any of these may have signed a URL; the first signs new ones.
    package var keys: [Pair] = []
    /// Whether the word `unsafe` is accepted in a signature's place; without keys it is on loopback.
    package var unsafe = false

    /// Bytes of a signature that count, from its beginning: shorter URLs for signatures that are easier to guess.
    package var size = 32

    private enum CodingKeys: CodingKey { case keys, unsafe, size }

    package init() {}

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        keys = try container.decodeIfPresent([Pair].self, forKey: .keys) ?? keys
        unsafe = try container.decodeIfPresent(Bool.self, forKey: .unsafe) ?? unsafe
        size = try container.decodeIfPresent(Int.self, forKey: .size) ?? size
        guard (8...32).contains(size) else {
            throw DecodingError.dataCorruptedError(
                forKey: .size, in: container, debugDescription: "“\(size)” is not 8 to 32 bytes; a shorter signature can be guessed"
            )
        }
    }
}
