import Crypto
import FoundationEssentials
package import OnesheetCore

/// imgproxy's URL signature: base64url, without padding, of HMAC-SHA256(key, salt ‖ path after the signature).
public struct Signature: Sendable {
    private let keys: [SigningKey]
    private let size: Int
    private let acceptsUnsafe: Bool

    /// - Parameters:
    ///   - keys: any of these may have signed a path; the first signs new ones.
    ///   - size: bytes of a signature that count, from its beginning: 8 to 32.
    ///   - acceptsUnsafe: whether the word `unsafe` is accepted in a signature's place.
    public init(keys: [SigningKey], size: Int = 32, acceptsUnsafe: Bool = false) {
        (self.keys, self.size, self.acceptsUnsafe) = (keys, size, acceptsUnsafe)
    }

    /// The signature of `path`, which begins with a slash, by the first key; `nil` without keys.
    public func sign(_ path: String) -> String? {
        guard let pair = keys.first else { return nil }
        return Data(code(path, pair)).base64URL
    }

    /// - Throws: `RequestError.badSignature` unless a key has signed `path` or none is needed.
    package func check(_ signature: some StringProtocol, of path: String) throws(RequestError) {
        try check(signature, size: size) { code(path, $0) }
    }

    /// The same for a signature of thumbor's: base64url of HMAC-SHA1(key, path after the signature and its slash).
    package func check(thumbor signature: some StringProtocol, of path: some StringProtocol) throws(RequestError) {
        try check(signature, size: Insecure.SHA1.byteCount) { pair in
            Array(HMAC<Insecure.SHA1>.authenticationCode(for: Data(path.utf8), using: SymmetricKey(data: pair.key)))
        }
    }

    /// Checks an address that cannot carry a signature.
    /// - Throws: `RequestError.forbidden` unless the server accepts the word `unsafe` in place of signatures.
    package func checkUnsigned() throws(RequestError) {
        guard acceptsUnsafe else {
            throw .forbidden("this server makes what was signed, and such addresses cannot be (configuration: signing.unsafe)")
        }
    }

    private func check(
        _ signature: some StringProtocol, size: Int, against code: (SigningKey) -> [UInt8]
    ) throws(RequestError) {
        if acceptsUnsafe && signature.isExactly("unsafe") { return }
        guard let claimed = Data(base64URL: signature), claimed.count == size else { throw .badSignature }
        // Compares every byte with every key: the time taken must not tell which byte of a guess is wrong.
        let matches = keys.filter { pair in zip(claimed, code(pair)).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 }
        guard !matches.isEmpty else { throw .badSignature }
    }

    private func code(_ path: String, _ pair: SigningKey) -> [UInt8] {
        let code = HMAC<SHA256>.authenticationCode(for: Data(pair.salt + Array(path.utf8)), using: SymmetricKey(data: pair.key))
        return Array(code.prefix(size))
    }
}
