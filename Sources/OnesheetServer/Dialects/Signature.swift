import Crypto
import FoundationEssentials
import OnesheetCore

/// imgproxy's URL signature: base64url, without padding, of HMAC-SHA256(key, salt ‖ path after the signature).
package struct Signature: Sendable {
    private let configuration: SigningConfiguration
    private let acceptsUnsafe: Bool

    /// - Parameter needsKey: whether somebody could ask for more than the operator wants; where only this machine can reach the
    ///   server, or presets are all that it makes, no key is needed.
    package init(_ configuration: SigningConfiguration, needsKey: Bool) {
        self.configuration = configuration
        acceptsUnsafe = configuration.unsafe || (configuration.keys.isEmpty && !needsKey)
    }

    /// The signature of `path`, which begins with a slash, by the first key; `nil` without keys.
    package func sign(_ path: String) -> String? {
        guard let pair = configuration.keys.first else { return nil }
        return Data(code(path, pair)).base64URL
    }

    /// - Throws: `RequestError.badSignature` unless a key has signed `path` or none is needed.
    package func check(_ signature: some StringProtocol, of path: String) throws(RequestError) {
        try check(signature, size: configuration.size) { code(path, $0) }
    }

    /// The same for a signature of thumbor's: base64url of HMAC-SHA1(key, path after the signature and its slash).
    func check(thumbor signature: some StringProtocol, of path: some StringProtocol) throws(RequestError) {
        try check(signature, size: Insecure.SHA1.byteCount) { pair in
            Array(HMAC<Insecure.SHA1>.authenticationCode(for: Data(path.utf8), using: SymmetricKey(data: pair.key)))
        }
    }

    /// The rule for addresses that cannot carry a signature: good where the word `unsafe` is.
    func checkUnsigned() throws(RequestError) {
        guard acceptsUnsafe else {
            throw .forbidden("this server makes what was signed, and such addresses cannot be (configuration: signing.unsafe)")
        }
    }

    private func check(
        _ signature: some StringProtocol, size: Int, against code: (SigningConfiguration.Pair) -> [UInt8]
    ) throws(RequestError) {
        if acceptsUnsafe && signature.isExactly("unsafe") { return }
        guard let claimed = Data(base64URL: signature), claimed.count == size else { throw .badSignature }
        // Every key is tried, and every byte compared, so that the time taken says nothing about where a guess is wrong.
        let matches = configuration.keys.filter { pair in zip(claimed, code(pair)).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 }
        guard !matches.isEmpty else { throw .badSignature }
    }

    private func code(_ path: String, _ pair: SigningConfiguration.Pair) -> [UInt8] {
        let code = HMAC<SHA256>.authenticationCode(for: Data(pair.salt + Array(path.utf8)), using: SymmetricKey(data: pair.key))
        return Array(code.prefix(configuration.size))
    }
}

extension Data {
    /// base64url without padding (RFC 4648 §5).
    var base64URL: String {
        let digits = base64EncodedString().utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Reads base64url, padded or not.
    init?(base64URL text: some StringProtocol) {
        var standard = text.utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        standard += Array(repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        self.init(base64Encoded: String(decoding: standard, as: UTF8.self))
    }
}
