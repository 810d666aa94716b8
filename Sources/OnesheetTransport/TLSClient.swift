package import NIOPosix
package import NIOSSL
package import OnesheetCore
import Synchronization

/// The TLS settings for all origins. The trust roots are read once, and not on an event loop.
package final class TLSClient: Sendable {
    private let made = Mutex<NIOSSLContext?>(nil)
    private let configuration: TLSConfiguration
    private let threads: NIOThreadPool

    package init(_ configuration: TLSConfiguration = .makeClientConfiguration(), threads: NIOThreadPool) {
        var configuration = configuration
        configuration.applicationProtocols = ["http/1.1"]
        self.configuration = configuration
        self.threads = threads
    }

    func context() async throws(ExchangeFailure) -> NIOSSLContext {
        if let context = made.withLock({ $0 }) { return context }
        do {
            let context = try await threads.runIfActive { [configuration] in try NIOSSLContext(configuration: configuration) }
            return made.withLock { made in
                made = made ?? context
                return made ?? context
            }
        } catch {
            throw ExchangeFailure(.broken("the trusted authorities cannot be read"), .connecting)
        }
    }

    /// The name for the certificate and the handshake; `nil` for an address, which the peer check covers. A trailing dot is not
    /// part of the name (RFC 6066 §3).
    static func name(of host: String) -> String? {
        guard IPAddress(host) == nil else { return nil }
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}

/// The authorities whose certificates are trusted for outgoing HTTPS.
package struct TrustedAuthorities: Sendable {
    private let system: String?
    private let own: [NIOSSLCertificate]

    /// - Parameters:
    ///   - file: PEM file with authorities beside the system's; `nil` for none.
    ///   - environment: may replace the system's authorities by a file, as for other programs: `SSL_CERT_FILE`.
    /// - Throws: `ConfigurationError` if one of the files cannot be read.
    package init(file: String? = nil, environment: [String: String] = [:]) throws(ConfigurationError) {
        own = try file.map { (file) throws(ConfigurationError) in try Self.certificates(in: file, key: "trustedAuthorities") } ?? []
        system = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        if let system { _ = try Self.certificates(in: system, key: "SSL_CERT_FILE") }
    }

    package var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let system { configuration.trustRoots = .file(system) }
        if !own.isEmpty { configuration.additionalTrustRoots = [.certificates(own)] }
        return configuration
    }

    private static func certificates(in file: String, key: String) throws(ConfigurationError) -> [NIOSSLCertificate] {
        let found: [NIOSSLCertificate]
        do { found = try NIOSSLCertificate.fromPEMFile(file) } catch {
            throw ConfigurationError(path: key, message: "\(file) cannot be read as PEM")
        }
        guard !found.isEmpty else { throw ConfigurationError(path: key, message: "\(file) contains no certificate") }
        return found
    }
}
