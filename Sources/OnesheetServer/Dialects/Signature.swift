import Crypto
import FoundationEssentials

/// imgproxy's URL signature: base64url, without padding, of HMAC-SHA256(key, salt ‖ path after the signature).
package struct Signature: Sendable {
    private let configuration: SigningConfiguration
    private let acceptsUnsafe: Bool

    /// - Parameter isLoopback: whether only this machine can reach the server; then no key is needed.
    package init(_ configuration: SigningConfiguration, isLoopback: Bool) {
        self.configuration = configuration
        acceptsUnsafe = configuration.unsafe || (configuration.keys.isEmpty && isLoopback)
    }

    /// The signature of `path`, which begins with a slash, by the first key; `nil` without keys.
    package func sign(_ path: String) -> String? {
        guard let pair = configuration.keys.first else { return nil }
        return Data(Self.code(path, pair)).base64URL
    }

    /// - Throws: `RequestError.badSignature` unless a key has signed `path` or none is needed.
    package func check(_ signature: some StringProtocol, of path: String) throws(RequestError) {
        if acceptsUnsafe && signature == "unsafe" { return }
        guard let claimed = Data(base64URL: signature), claimed.count == SHA256.byteCount else { throw .badSignature }
        // Every key is tried, and `==` on authentication codes takes the same time wherever they differ.
        let matches = configuration.keys.filter {
            HMAC<SHA256>.isValidAuthenticationCode(
                claimed, authenticating: Data($0.salt + Array(path.utf8)), using: SymmetricKey(data: $0.key))
        }
        guard !matches.isEmpty else { throw .badSignature }
    }

    private static func code(_ path: String, _ pair: SigningConfiguration.Pair) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(pair.salt + Array(path.utf8)), using: SymmetricKey(data: pair.key))
    }
}

extension Data {
    /// base64url without padding (RFC 4648 §5).
    var base64URL: String {
        String(
            base64EncodedString().compactMap { character in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    /// Reads base64url, padded or not.
    init?(base64URL text: some StringProtocol) {
        var standard = text.filter { $0 != "=" }.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        standard += Array(repeating: "=", count: (4 - standard.count % 4) % 4)
        self.init(base64Encoded: String(standard))
    }
}
