import OnesheetCrypto
package import OnesheetValues

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Encrypted source URLs as imgproxy documents them: base64url of the initialisation vector and the URL in AES-CBC with PKCS#7
/// padding.
///
/// CBC has no authentication, so decrypt only signed paths.
public struct SourceEncryption: Sendable, Decodable {
    private let key: [UInt8]
    private let cipher: AESCBC

    /// The bytes of an initialisation vector.
    private static let vectorSize = AESCBC.blockSize

    /// - Parameter key: 16, 24 or 32 bytes. `nil` for another length.
    public init?(key: [UInt8]) {
        guard let cipher = AESCBC(key: key) else { return nil }
        self.key = key
        self.cipher = cipher
    }

    /// Decodes the key from hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let key = [UInt8](hex: try container.decode(String.self)), let made = SourceEncryption(key: key) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "needs 32, 48 or 64 hexadecimal digits, such as `openssl rand -hex 32` prints")
        }
        self = made
    }

    /// Encrypts a source URL. Equal URLs give equal texts, so that caches recognise them: the initialisation vector is an HMAC of the
    /// URL.
    public func encrypt(_ url: String) throws -> String {
        let vector = HMAC.sha256(of: url.utf8, key: key).prefix(Self.vectorSize)
        return (Data(vector) + (try cipher.encrypt(url.utf8, vector: vector))).base64URL
    }

    /// Decrypts a source URL.
    /// - Throws: the same `RequestError` for every invalid text.
    package func decrypt(_ text: some StringProtocol) throws(RequestError) -> String {
        let failure = RequestError.malformed("the encrypted source URL cannot be decrypted")
        guard let bytes = Data(base64URL: text), bytes.count > Self.vectorSize else { throw failure }
        do {
            let url = try cipher.decrypt(bytes.dropFirst(Self.vectorSize), vector: bytes.prefix(Self.vectorSize))
            guard let text = String(bytes: url, encoding: .utf8), text.isSafeInAddresses else { throw failure }
            return text
        } catch {
            throw failure
        }
    }

    /// The path of a free transform with its plain source URL encrypted: `/rs:fit:342:0/plain/https://…@png` becomes
    /// `/rs:fit:342:0/enc/….png`.
    /// - Parameter path: the part after the signature, percent-encoded, with the leading slash.
    /// - Throws: `RequestError.malformed` if there is no plain source URL.
    package func encrypting(path: String) throws -> String {
        guard let plain = path.firstRange(ofBytesOf: "/plain/") else {
            throw RequestError.malformed("“\(shown(path: path))” has no source URL behind /plain/")
        }
        let (url, format) = ImagePath.split(path[plain.upperBound...], at: "@")
        let encrypted = try encrypt(PercentEncoding.decode(url))
        return "\(path[..<plain.lowerBound])/enc/\(encrypted)" + (format.map { ".\($0)" } ?? "")
    }
}

/// Without its key, so that no log prints a secret.
extension SourceEncryption: CustomStringConvertible, CustomReflectable {
    public var description: String { "SourceEncryption(…)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
