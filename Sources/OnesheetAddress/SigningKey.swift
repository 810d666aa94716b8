/// A signing key with its salt.
public struct SigningKey: Sendable, Decodable {
    package let key: [UInt8]
    package let salt: [UInt8]

    private enum CodingKeys: CodingKey { case key, salt }

    /// - Parameters:
    ///   - key: the HMAC key.
    ///   - salt: the prefix of the signed path.
    public init(key: [UInt8], salt: [UInt8]) {
        self.key = key
        self.salt = salt
    }

    /// Decodes key and salt from hexadecimal digits.
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

/// Without key and salt, so that no log prints a secret.
extension SigningKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "SigningKey(…)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
