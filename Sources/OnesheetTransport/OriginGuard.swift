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

    /// The host as a proxy gets it. A name that the internet may know is looked up by the proxy, whose networks are others. What is an address,
    /// may be read as one, or is a name of this network is checked here, and the proxy gets a checked address.
    static func target(
        of host: OriginHost, in networks: [NetworkRange]?, _ resolver: SystemResolver
    ) async throws(ExchangeFailure) -> String {
        guard let networks else { return host.host }
        if networks.contains(.public), isPublicName(host.host) { return host.host }
        let addresses = try await addresses(of: host, in: networks, resolver)
        return addresses.first.map { "\($0)" } ?? host.host
    }

    /// Whether a host has a domain, and cannot be read as an address in any spelling (`127.1`, `0x7f.1`).
    private static func isPublicName(_ host: String) -> Bool {
        let labels = (host.hasSuffix(".") ? host.dropLast() : host[...]).split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, !host.contains(":"), let domain = labels.last, let first = domain.utf8.first else { return false }
        // RFC 6761, RFC 6762, RFC 8375, and words that home networks use.
        let isOwn =
            ["localhost", "local", "internal", "intranet", "lan", "home"].contains(domain) || labels.suffix(2) == ["home", "arpa"]
        return (0x61...0x7A).contains(first) && !isOwn
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
