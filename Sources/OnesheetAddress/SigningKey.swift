/// A key with its salt, as bytes.
public struct SigningKey: Sendable, Decodable {
    package let key: [UInt8]
    package let salt: [UInt8]

    private enum CodingKeys: CodingKey { case key, salt }

    /// - Parameters:
    ///   - key: the secret of the HMAC.
    ///   - salt: what is put before each path that is signed.
    public init(key: [UInt8], salt: [UInt8]) { (self.key, self.salt) = (key, salt) }

    /// Reads key and salt as hexadecimal digits.
    public init(from decoder: any Decoder) throws {
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
