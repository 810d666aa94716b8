import NIOPosix
import NIOSSL
import OnesheetCore
import Synchronization

/// The TLS settings for all origins. The trust roots are read once, and not on an event loop.
final class TLSClient: Sendable {
    private let made = Mutex<NIOSSLContext?>(nil)
    private let configuration: TLSConfiguration
    private let threads: NIOThreadPool

    init(_ configuration: TLSConfiguration = .makeClientConfiguration(), threads: NIOThreadPool) {
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
            throw ExchangeFailure(.broken("TLS cannot be used: \(error)"), .connecting)
        }
    }

    /// The name for the certificate and the handshake; `nil` for an address, which the peer check covers. A trailing dot is not
    /// part of the name (RFC 6066 §3).
    static func name(of host: String) -> String? {
        guard IPAddress(host) == nil else { return nil }
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}
