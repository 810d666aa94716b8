#if canImport(CryptoKit)
    import CommonCrypto
    import CryptoKit
    import Darwin

    /// The hash functions of Apple's CryptoKit, and the ciphers of CommonCrypto.
    enum Backend {
        static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
            guard let start = left.baseAddress, let other = right.baseAddress else { return left.isEmpty }
            return timingsafe_bcmp(start, other, left.count) == 0
        }

        static func hmac(
            _ function: HashFunction, of message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
            into code: UnsafeMutableRawBufferPointer
        ) {
            func write<Function: CryptoKit.HashFunction>(_: Function.Type) {
                var hmac = CryptoKit.HMAC<Function>(key: SymmetricKey(data: key))
                hmac.update(data: message)
                hmac.finalize().withUnsafeBytes { code.copyMemory(from: $0) }
            }
            switch function {
            case .sha256: write(CryptoKit.SHA256.self)
            case .sha1: write(CryptoKit.Insecure.SHA1.self)
            case .md5: write(CryptoKit.Insecure.MD5.self)
            }
        }

        static func encryptAESCBC(_ bytes: UnsafeRawBufferPointer, key: [UInt8], vector: [UInt8]) -> [UInt8]? {
            aesCBC(kCCEncrypt, bytes, options: kCCOptionPKCS7Padding, key: key, vector: vector)
        }

        /// Checks the padding here, because `CCCrypt` does not promise to.
        static func decryptAESCBC(_ bytes: UnsafeRawBufferPointer, key: [UInt8], vector: [UInt8]) -> [UInt8]? {
            guard bytes.count.isMultiple(of: AESCBC.blockSize),
                let padded = aesCBC(kCCDecrypt, bytes, options: 0, key: key, vector: vector),
                let last = padded.last, (1...AESCBC.blockSize).contains(Int(last)),
                padded.suffix(Int(last)).allSatisfy({ $0 == last })
            else { return nil }
            return Array(padded.dropLast(Int(last)))
        }

        private static func aesCBC(
            _ operation: Int, _ bytes: UnsafeRawBufferPointer, options: Int, key: [UInt8], vector: [UInt8]
        ) -> [UInt8]? {
            var isDone = false
            let result = [UInt8](unsafeUninitializedCapacity: bytes.count + AESCBC.blockSize) { output, count in
                let status = CCCrypt(
                    CCOperation(operation), CCAlgorithm(kCCAlgorithmAES), CCOptions(options), key, key.count, vector,
                    bytes.baseAddress, bytes.count, output.baseAddress, output.count, &count)
                isDone = status == kCCSuccess
                if !isDone { count = 0 }
            }
            return isDone ? result : nil
        }
    }

    /// The state of a hash function between the pieces of its input.
    struct HashState: ~Copyable {
        private var hash: any CryptoKit.HashFunction

        init(_ function: HashFunction) {
            hash =
                switch function {
                case .sha256: CryptoKit.SHA256()
                case .sha1: CryptoKit.Insecure.SHA1()
                case .md5: CryptoKit.Insecure.MD5()
                }
        }

        mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

        consuming func finalize() -> Digest { Self.digest(hash) }

        private static func digest<Function: CryptoKit.HashFunction>(_ hash: Function) -> Digest {
            Digest(count: Function.Digest.byteCount) { digest in hash.finalize().withUnsafeBytes { digest.copyMemory(from: $0) } }
        }
    }
#endif
