/// SHA-256 (FIPS 180-4), at once or of bytes that arrive in pieces.
package struct SHA256: ~Copyable {
    private var state = HashState(.sha256)

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { state.update(bytes) }

    package mutating func update(_ bytes: some Sequence<UInt8>) { bytes.withBytes { state.update($0) } }

    /// The digest of all bytes: 32 bytes.
    package consuming func finalize() -> Digest { state.finalize() }

    /// The digest of bytes in memory: for short texts a fifth faster than the generic function.
    package static func hash(_ bytes: UnsafeRawBufferPointer) -> Digest { HashFunction.sha256.hash(bytes) }

    package static func hash(_ bytes: some Sequence<UInt8>) -> Digest { bytes.withBytes { hash($0) } }
}

/// Hash functions with known collisions, for protocols that require them.
package enum Insecure {
    /// SHA-1 (FIPS 180-4).
    package enum SHA1 {
        /// The bytes of a digest.
        package static let size = HashFunction.sha1.size

        package static func hash(_ bytes: some Sequence<UInt8>) -> Digest { bytes.withBytes { HashFunction.sha1.hash($0) } }
    }

    /// MD5 (RFC 1321).
    package enum MD5 {
        package static func hash(_ bytes: some Sequence<UInt8>) -> Digest { bytes.withBytes { HashFunction.md5.hash($0) } }
    }
}

/// The hash functions of a backend.
enum HashFunction {
    case sha256
    case sha1
    case md5

    /// The bytes of a digest.
    var size: Int {
        switch self {
        case .sha256: 32
        case .sha1: 20
        case .md5: 16
        }
    }

    func hash(_ bytes: UnsafeRawBufferPointer) -> Digest {
        var state = HashState(self)
        state.update(bytes)
        return state.finalize()
    }
}
