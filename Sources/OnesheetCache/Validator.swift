internal import FoundationEssentials
package import NIOCore

/// Strong validators (RFC 9110 §8.8.3): equal only for equal bytes.
package enum Validator {
    /// The first 128 bits of the SHA-256 of `body`, in base64url.
    package static func of(_ body: ByteBuffer) -> String {
        Digest128(of: body.readableBytesView).base64URL
    }
}
