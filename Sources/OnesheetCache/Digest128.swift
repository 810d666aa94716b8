internal import CLinux
internal import FoundationEssentials
package import NIOCore
internal import OnesheetCore
internal import OnesheetCrypto

/// A digest of 128 bits: enough to exclude accidental collisions of names and bodies.
package struct Digest128: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The start of the bytes' SHA-256, for names. Two keys with the same digest cannot be constructed.
    package init(of bytes: some Sequence<UInt8>) {
        let digest = bytes.withContiguousStorageIfAvailable { SHA256.hash(UnsafeRawBufferPointer($0)) }
        self.init(digest ?? SHA256.hash(bytes))
    }

    /// The bytes' XXH3, to detect damage. It is ten times as fast and no protection against forgery, which a checksum in the same
    /// file cannot give anyway.
    package init(checking buffer: ByteBuffer) {
        let checksum = buffer.withUnsafeReadableBytes { ccachefiles_check($0.baseAddress, $0.count) }
        self.init(high: checksum.high, low: checksum.low)
    }

    private init(_ digest: Digest) {
        self = digest.withUnsafeBytes { bytes in
            Digest128(
                high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// The sixteen bytes, most significant first.
    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The sixteen bytes, most significant first.
    var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }
}

extension Digest128 {
    /// 32 lower-case hexadecimal digits.
    package var hex: String {
        String(unsafeUninitializedCapacity: 32) { text in
            for place in 0..<32 {
                let half = place < 16 ? high >> (60 - 4 * UInt64(place)) : low >> (124 - 4 * UInt64(place))
                let digit = UInt8(half & 15)
                text[place] = digit < 10 ? 48 + digit : 87 + digit
            }
            return 32
        }
    }

    /// Parses 32 hexadecimal digits in the format of `hex`.
    package init?(hex text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == 32, digits.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// 22 characters of base64url (RFC 4648 §5), unpadded.
    var base64URL: String { Data(bytes).base64URL }
}
