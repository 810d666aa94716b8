import OnesheetCrypto
package import OnesheetValues

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// imgproxy's URL signature: HMAC-SHA256(key, salt ‖ path after the signature) as base64url without padding.
public struct Signature: Sendable {
    /// What stands for no signature. imgproxy without keys takes any text there; its clients and documents write `insecure` or `_`.
    private static let unsigned = ["unsafe", "insecure", "_"]

    private let keys: [SigningKey]
    private let thumborKeys: [[UInt8]]
    private let size: Int
    private let acceptsUnsafe: Bool

    /// - Parameters:
    ///   - keys: any of these keys may have signed a path. The first signs new paths.
    ///   - thumborKeys: further keys for thumbor's signatures only; they have no salt.
    ///   - size: the length of a signature in bytes, 8 to 32. Longer HMACs are truncated.
    ///   - acceptsUnsafe: whether `unsafe`, `insecure` and `_` are accepted in place of a signature, and of thumbor's only `unsafe`.
    public init(keys: [SigningKey], thumborKeys: [[UInt8]] = [], size: Int = 32, acceptsUnsafe: Bool = false) {
        self.keys = keys
        self.thumborKeys = thumborKeys
        self.size = size
        self.acceptsUnsafe = acceptsUnsafe
    }

    /// The characters of a signature.
    package var length: Int { (size * 4 + 2) / 3 }

    /// The signature for paths that anyone gets. A server that accepts `unsafe` gives no signatures away.
    package var forAnyone: Signature { acceptsUnsafe ? Signature(keys: [], acceptsUnsafe: true) : self }

    /// Signs `path`, which begins with a slash, with the first key. `nil` without keys.
    public func sign(_ path: String) -> String? {
        guard let pair = keys.first else { return nil }
        return Data(code(path, pair)).base64URL
    }

    /// - Throws: `RequestError.badSignature` unless a key has signed `path`, or `signature` is `unsafe`, `insecure` or `_` and that is accepted.
    package func check(_ signature: some StringProtocol, of path: String) throws(RequestError) {
        try check(signature, or: Self.unsigned, size: size, against: { keys.map { code(path, $0) } })
    }

    /// Checks a signature without accepting `unsafe`.
    /// - Throws: `RequestError.badSignature` unless a key has signed `path`.
    package func check(signed signature: some StringProtocol, of path: String) throws(RequestError) {
        try Signature(keys: keys, size: size).check(signature, of: path)
    }

    /// Checks a thumbor signature: HMAC-SHA1(key, path after the signature and its slash) as base64url.
    package func check(thumbor signature: some StringProtocol, of path: some StringProtocol) throws(RequestError) {
        try check(signature, or: ["unsafe"], size: Insecure.SHA1.size) { allThumborKeys.map { Self.thumborCode(path, $0) } }
    }

    /// The thumbor signature of `path` with the first key; `nil` without keys.
    package func sign(thumbor path: String) -> String? {
        allThumborKeys.first.map { Data(Self.thumborCode(path, $0)).base64URL }
    }

    /// The keys of thumbor signatures: those without their salts, and the ones for thumbor alone.
    private var allThumborKeys: [[UInt8]] { keys.map(\.key) + thumborKeys }

    private static func thumborCode(_ path: some StringProtocol, _ key: [UInt8]) -> [UInt8] {
        Array(HMAC.sha1(of: path.utf8, key: key))
    }

    /// Checks that unsigned requests are allowed, for addresses that cannot carry a signature.
    /// - Throws: `RequestError.forbidden` if the server does not accept `unsafe`.
    package func checkUnsigned() throws(RequestError) {
        guard acceptsUnsafe else {
            throw .forbidden("this server requires a signature (configuration: signing.unsafe)")
        }
    }

    private func check(
        _ signature: some StringProtocol, or unsigned: [String], size: Int, against codes: () -> [[UInt8]]
    ) throws(RequestError) {
        if acceptsUnsafe, unsigned.contains(where: { signature.isExactly($0) }) { return }
        guard let claimed = Data(base64URL: signature), claimed.count == size else { throw .badSignature }
        // The last digit has bits of no meaning: with others, each signature would have several addresses.
        let digits = signature.prefix { $0 != "=" }
        let isWhole = digits.utf8.count == signature.utf8.count || signature.utf8.count % 4 == 0
        guard isWhole, claimed.base64URL.isExactly(digits) else { throw .badSignature }
        // Compare all bytes with all keys in constant time, so that timing does not reveal a correct prefix.
        let matches = codes().filter { ConstantTime.areEqual(claimed, $0) }
        guard !matches.isEmpty else { throw .badSignature }
    }

    private func code(_ path: String, _ pair: SigningKey) -> [UInt8] {
        Array(HMAC.sha256(of: pair.salt + path.utf8, key: pair.key).prefix(size))
    }
}

/// Without its keys, so that no log prints a secret.
extension Signature: CustomStringConvertible, CustomReflectable {
    public var description: String { "Signature(…)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
