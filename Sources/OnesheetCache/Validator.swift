internal import Crypto
internal import FoundationEssentials
package import NIOCore

/// Strong validators (RFC 9110 §8.8.3): equal for equal bytes only.
package enum Validator {
    /// SHA-256 of `body`, its first 128 bits, in base64url.
    package static func of(_ body: ByteBuffer) -> String {
        Digest128(of: body.readableBytesView).base64URL
    }
}
