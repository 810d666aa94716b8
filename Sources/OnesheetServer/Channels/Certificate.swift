import NIOSSL
package import OnesheetCore
import Synchronization

/// The certificate for new connections. Its files can be reloaded; open connections keep the old certificate.
package final class Certificate: Sendable {
    private let files: TLSFiles
    private let current: Mutex<NIOSSLContext>

    /// - Throws: `ConfigurationError` if the files cannot be used.
    package init(_ files: TLSFiles) throws(ConfigurationError) {
        self.files = files
        current = Mutex(try Self.context(files))
    }

    var context: NIOSSLContext { current.withLock { $0 } }

    /// Reads the files again.
    /// - Throws: `ConfigurationError` if the files cannot be used. The old certificate then stays in use.
    func reload() throws(ConfigurationError) {
        let new = try Self.context(files)
        current.withLock { $0 = new }
    }

    /// The cipher suites of TLS 1.2: those of RFC 9325 §4.2, with forward secrecy and authenticated encryption, and so none with CBC.
    /// TLS 1.3 has its own, all of this kind.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    private static func context(_ files: TLSFiles) throws(ConfigurationError) -> NIOSSLContext {
        let chain = try read(files.certificate, key: "tls.certificate") { try NIOSSLCertificate.fromPEMFile($0) }
        let key = try read(files.key, key: "tls.key") { try NIOSSLPrivateKey(file: $0, format: .pem) }
        guard !chain.isEmpty else {
            throw ConfigurationError(path: "tls.certificate", message: "\(files.certificate) contains no certificate")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.applicationProtocols = ["h2", "http/1.1"]
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = cipherSuites
        return try read(files.key, key: "tls") { _ in try NIOSSLContext(configuration: configuration) }
    }

    private static func read<Value>(
        _ file: String, key: String, _ body: (String) throws -> Value
    ) throws(ConfigurationError) -> Value {
        do {
            return try body(file)
        } catch {
            let message = key == "tls" ? "the certificate and the key do not match" : "cannot read \(file) as PEM"
            throw ConfigurationError(path: key, message: "\(message): \(error)")
        }
    }
}
