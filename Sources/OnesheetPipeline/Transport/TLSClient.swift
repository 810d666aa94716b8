import NIOPosix
import NIOSSL
import OnesheetCore
import Synchronization

/// What TLS to origins has in common: whom to trust, read once and not on an event loop.
final class TLSClient: Sendable {
    private let made = Mutex<NIOSSLContext?>(nil)
    private let configuration: TLSConfiguration
    private let threads: NIOThreadPool

    init(_ configuration: TLSConfiguration = .makeClientConfiguration(), threads: NIOThreadPool) {
        var configuration = configuration
        configuration.applicationProtocols = ["http/1.1"]
        (self.configuration, self.threads) = (configuration, threads)
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

    /// What a host's certificate has to be for, and what the handshake asks for; `nil` for an address, which is checked as the
    /// connection's other end. A dot behind a name is not part of it (RFC 6066 §3).
    static func name(of host: String) -> String? {
        guard IPAddress(host) == nil else { return nil }
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}
