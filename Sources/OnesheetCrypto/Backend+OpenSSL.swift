#if !canImport(CryptoKit)
    import COpenSSL

    /// The hash functions and ciphers of OpenSSL's libcrypto.
    ///
    /// Each is fetched once, because fetching takes longer than hashing a short text. `nonisolated(unsafe)`: a fetched algorithm never
    /// changes, and its users are counted atomically. Contexts do change; each belongs to one call.
    enum Backend {
        /// A library context of our own: the system's `openssl.cnf` cannot disable a function, and is not read.
        private nonisolated(unsafe) static let library: OpaquePointer? = {
            // At exit, threads may still be hashing, so libcrypto must not free its memory.
            OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
            return OSSL_LIB_CTX_new()
        }()

        fileprivate nonisolated(unsafe) static let sha256 = fetch("SHA2-256", EVP_MD_fetch)
        fileprivate nonisolated(unsafe) static let sha1 = fetch("SHA1", EVP_MD_fetch)
        fileprivate nonisolated(unsafe) static let md5 = fetch("MD5", EVP_MD_fetch)
        private nonisolated(unsafe) static let hmac = fetch("HMAC", EVP_MAC_fetch)
        private nonisolated(unsafe) static let aes128 = fetch("AES-128-CBC", EVP_CIPHER_fetch)
        private nonisolated(unsafe) static let aes192 = fetch("AES-192-CBC", EVP_CIPHER_fetch)
        private nonisolated(unsafe) static let aes256 = fetch("AES-256-CBC", EVP_CIPHER_fetch)

        private static func fetch(
            _ name: String, _ fetch: (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> OpaquePointer?
        ) -> OpaquePointer {
            guard let found = fetch(library, name, nil) else { preconditionFailure("libcrypto has no \(name)") }
            return found
        }

        static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
            left.isEmpty || CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
        }

        static func hmac(
            _ function: HashFunction, of message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
            into code: UnsafeMutableRawBufferPointer
        ) {
            let isDone = copenssl_hmac(
                hmac, EVP_MD_get0_name(function.fetched), key.baseAddress, key.count, message.baseAddress, message.count,
                code.assumingMemoryBound(to: UInt8.self).baseAddress, code.count)
            precondition(isDone == 1, "libcrypto has no memory for HMAC")
        }

        static func encryptAESCBC(_ bytes: UnsafeRawBufferPointer, key: [UInt8], vector: [UInt8]) -> [UInt8]? {
            aesCBC(bytes, key: key, vector: vector, encrypts: true)
        }

        static func decryptAESCBC(_ bytes: UnsafeRawBufferPointer, key: [UInt8], vector: [UInt8]) -> [UInt8]? {
            aesCBC(bytes, key: key, vector: vector, encrypts: false)
        }

        private static func aesCBC(_ bytes: UnsafeRawBufferPointer, key: [UInt8], vector: [UInt8], encrypts: Bool) -> [UInt8]? {
            let room = bytes.count + AESCBC.blockSize
            // libcrypto counts in `int`.
            guard room <= Int32.max, let context = EVP_CIPHER_CTX_new() else { return nil }
            defer { EVP_CIPHER_CTX_free(context) }
            let cipher = key.count == 16 ? aes128 : key.count == 24 ? aes192 : aes256
            guard EVP_CipherInit_ex2(context, cipher, key, vector, encrypts ? 1 : 0, nil) == 1 else { return nil }
            var isDone = false
            let result = [UInt8](unsafeUninitializedCapacity: room) { output, count in
                var first: Int32 = 0
                var last: Int32 = 0
                let input = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
                isDone =
                    EVP_CipherUpdate(context, output.baseAddress, &first, input, Int32(bytes.count)) == 1
                    && EVP_CipherFinal_ex(context, output.baseAddress.map { $0 + Int(first) }, &last) == 1
                count = isDone ? Int(first + last) : 0
            }
            // Nothing else empties the thread's error queue.
            if !isDone { ERR_clear_error() }
            return isDone ? result : nil
        }
    }

    extension HashFunction {
        fileprivate var fetched: OpaquePointer {
            switch self {
            case .sha256: Backend.sha256
            case .sha1: Backend.sha1
            case .md5: Backend.md5
            }
        }
    }

    /// The state of a hash function between the pieces of its input.
    struct HashState: ~Copyable {
        private let context: OpaquePointer
        private let size: Int

        init(_ function: HashFunction) {
            guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex2(context, function.fetched, nil) == 1 else {
                preconditionFailure("libcrypto has no memory for a digest")
            }
            self.context = context
            size = function.size
        }

        deinit { EVP_MD_CTX_free(context) }

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else {
                preconditionFailure("libcrypto cannot compute a digest")
            }
        }

        consuming func finalize() -> Digest {
            Digest(count: size) { digest in
                guard EVP_DigestFinal_ex(context, digest.assumingMemoryBound(to: UInt8.self).baseAddress, nil) == 1 else {
                    preconditionFailure("libcrypto cannot compute a digest")
                }
            }
        }
    }
#endif
