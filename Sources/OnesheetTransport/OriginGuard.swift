import NIOCore
package import OnesheetCore

/// Checks URLs and addresses against the origin policy before a connection is made.
package enum OriginGuard {
    /// - Throws: `HTTPTransportError.forbidden` if `policy` does not allow `url`.
    package static func check(_ url: WebURL, _ policy: OriginPolicy) throws(HTTPTransportError) {
        guard let allow = policy.allow, !allow.contains(where: { $0.matches(url) }) else { return }
        throw .forbidden(url: url.description, reason: "it is not on the source's allow-list")
    }

    /// Whether `policy` allows the place that an original came from. Any place is allowed that is no URL.
    package static func allows(_ provenance: Provenance, _ policy: OriginPolicy) -> Bool {
        guard let allow = policy.allow, let url = provenance.location.flatMap({ WebURL($0) }) else { return true }
        return allow.contains { $0.matches(url) }
    }

    /// The addresses of `host` that connections may be made to, alternating between the families (RFC 8305 §4).
    /// - Parameter networks: `nil` allows all.
    /// - Throws: `ExchangeFailure` if there is none.
    static func addresses(
        of host: OriginHost, in networks: [NetworkRange]?, _ resolver: SystemResolver
    ) async throws(ExchangeFailure) -> [IPAddress] {
        let all: [IPAddress]
        if let address = IPAddress(host.host) {
            all = [address]
        } else {
            do throws(ResolveError) {
                all = try await resolver.addresses(of: host.host)
            } catch {
                switch error {
                case .unknown: throw ExchangeFailure(.noAddress, .connecting)
                case .timedOut: throw ExchangeFailure(.timedOut, .connecting)
                case .busy: throw ExchangeFailure(.full, .connecting)
                }
            }
        }
        let allowed = all.filter { allows($0, networks) }
        guard !allowed.isEmpty else { throw ExchangeFailure(.refused(all), .connecting) }
        return inTurn(allowed)
    }

    /// Whether the peer of a connection is within `networks`. Connections are made only to checked addresses, so this is a second
    /// line of defence.
    package static func allows(_ peer: IPAddress, _ networks: [NetworkRange]?) -> Bool {
        networks?.contains { $0.contains(peer) } ?? true
    }

    /// Alternates between the families, so that an unreachable family costs one attempt.
    private static func inTurn(_ addresses: [IPAddress]) -> [IPAddress] {
        guard let family = addresses.first?.bytes.count else { return [] }
        let (same, other) = (addresses.filter { $0.bytes.count == family }, addresses.filter { $0.bytes.count != family })
        return (0..<max(same.count, other.count)).flatMap { same.dropFirst($0).prefix(1) + other.dropFirst($0).prefix(1) }
    }
}

extension OriginPolicy {
    /// Whether the operator named the host of `url`, so that errors may describe its connections. Errors must not do so if a
    /// stranger may have chosen the host: one that only matches a pattern, or the target of a redirect.
    package func names(_ url: WebURL, afterRedirect isRedirected: Bool) -> Bool {
        guard let allow else { return !isRedirected }
        return allow.contains { $0.isForOneHost && $0.matches(url) }
    }
}

extension IPAddress {
    /// The address of a socket's peer without its zone.
    init?(_ socket: SocketAddress) {
        guard let text = socket.ipAddress?.prefix(while: { $0 != "%" }) else { return nil }
        self.init(String(text))
    }
}
