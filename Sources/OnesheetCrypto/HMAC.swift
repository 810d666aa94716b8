/// Message authentication codes by HMAC (RFC 2104). A key may have any number of bytes.
package enum HMAC {
    /// The code of 32 bytes with SHA-256.
    package static func sha256(of message: some Sequence<UInt8>, key: some Sequence<UInt8>) -> Digest {
        message.withBytes { message in key.withBytes { key in code(.sha256, of: message, key: key) } }
    }

    /// The code of 20 bytes with SHA-1, whose weakness as a hash function does not concern HMAC (RFC 6194 §3.3).
    package static func sha1(of message: some Sequence<UInt8>, key: some Sequence<UInt8>) -> Digest {
        message.withBytes { message in key.withBytes { key in code(.sha1, of: message, key: key) } }
    }

    private static func code(
        _ function: HashFunction, of message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) -> Digest {
        Digest(count: function.size) { Backend.hmac(function, of: message, key: key, into: $0) }
    }
}
