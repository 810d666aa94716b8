/// AES in the mode CBC (NIST SP 800-38A §6.2) with the padding of PKCS#7 (RFC 5652 §6.3). It has no authentication.
package struct AESCBC: Sendable {
    /// The lengths of keys in bytes: AES-128, AES-192 and AES-256.
    package static let keySizes = [16, 24, 32]
    /// The bytes of a block, and of an initialisation vector.
    package static let blockSize = 16

    private let key: [UInt8]

    /// - Parameter key: 16, 24 or 32 bytes. `nil` for another length.
    package init?(key: [UInt8]) {
        guard Self.keySizes.contains(key.count) else { return nil }
        self.key = key
    }

    /// Encrypts any number of bytes.
    /// - Parameter vector: the initialisation vector: 16 bytes, others for each text.
    package func encrypt(_ bytes: some Sequence<UInt8>, vector: some Sequence<UInt8>) throws(CipherError) -> [UInt8] {
        try crypt(bytes, vector: vector, by: Backend.encryptAESCBC)
    }

    /// - Throws: `CipherError` for everything that `encrypt` cannot have returned, whatever is wrong with it.
    package func decrypt(_ bytes: some Sequence<UInt8>, vector: some Sequence<UInt8>) throws(CipherError) -> [UInt8] {
        try crypt(bytes, vector: vector, by: Backend.decryptAESCBC)
    }

    private func crypt(
        _ bytes: some Sequence<UInt8>, vector: some Sequence<UInt8>,
        by function: (UnsafeRawBufferPointer, _ key: [UInt8], _ vector: [UInt8]) -> [UInt8]?
    ) throws(CipherError) -> [UInt8] {
        let vector = Array(vector)
        guard vector.count == Self.blockSize, let result = bytes.withBytes({ function($0, key, vector) }) else {
            throw CipherError()
        }
        return result
    }
}

/// Bytes that cannot be encrypted or decrypted. The error has no reason, because a reason helps attackers to forge texts.
package struct CipherError: Error {}
