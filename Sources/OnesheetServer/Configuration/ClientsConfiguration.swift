package import OnesheetCore

/// The keys of `clients`: how many there may be, and how long each is waited for.
package struct ClientsConfiguration: Sendable, Decodable, Equatable {
    /// Connections at the same time; the next ones wait in the system's queue.
    package var connections = 8192
    /// What one address may take. Those of `trustedProxies` may take everything.
    package var perAddress = PerAddress()
    /// Proxies whose `X-Forwarded-For` or `Forwarded` says who the client is. Programs behind a Unix socket are trusted in any case.
    package var trustedProxies: [NetworkRange] = [.loopback]
    /// The same as the operator wrote them; `nil` if nobody did. If somebody did, `X-Forwarded-Proto` counts from these proxies alone.
    package var namedProxies: [String]?
    /// Memory for answers that clients have not taken yet, a part of `limits.memory`; a quarter of it if it is not said, or two of the
    /// longest originals.
    package var memory: ByteSize?
    /// How long a connection may stay open without a request, and how long a client may take none of an answer.
    package var idleTimeout = Interval(.seconds(75))
    /// How long a client may take to send one request.
    package var requestTimeout = Interval(.seconds(15))

    /// The keys of `clients.perAddress`: what one IPv4 address, or one /64 of IPv6, may take. 0 is no limit.
    package struct PerAddress: Sendable, Decodable, Equatable {
        /// Connections at the same time; the next ones are closed at once.
        package var connections = 256
        /// Requests each second that no tier has an answer to; the next ones are answered 429.
        package var misses = 20.0
        /// So many of these at once, before the rate counts.
        package var burst = 400

        private enum CodingKeys: CodingKey { case connections, misses, burst }

        package init() {}

        package init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            connections = try keys.decodeIfPresent(Int.self, forKey: .connections) ?? connections
            misses = try keys.decodeIfPresent(Double.self, forKey: .misses) ?? misses
            burst = try keys.decodeIfPresent(Int.self, forKey: .burst) ?? burst
            guard connections >= 0 else {
                throw ConfigurationError(path: "clients.perAddress.connections", message: "needs at least 1, or 0 for no limit")
            }
            guard misses.isFinite, misses == 0 || misses >= 0.001 else {
                throw ConfigurationError(
                    path: "clients.perAddress.misses", message: "needs a number a second such as 20 or 0.5, or 0 for no limit")
            }
            guard burst >= 1 else { throw ConfigurationError(path: "clients.perAddress.burst", message: "needs at least 1") }
        }
    }

    private enum CodingKeys: CodingKey { case connections, perAddress, trustedProxies, memory, idleTimeout, requestTimeout }

    private static let leastMemory = 1 << 20

    /// Bytes of memory for answers that clients have not taken yet.
    func memory(within limits: Limits) -> Int {
        memory?.bytes ?? min(limits.memory, max(limits.memory / 4, limits.originBytes * 2))
    }

    package init() {}

    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        connections = try keys.decodeIfPresent(Int.self, forKey: .connections) ?? connections
        perAddress = try keys.decodeIfPresent(PerAddress.self, forKey: .perAddress) ?? perAddress
        if let proxies = try keys.decodeIfPresent([NetworkRange].self, forKey: .trustedProxies) {
            trustedProxies = proxies
            namedProxies = try keys.decode([String].self, forKey: .trustedProxies)
        }
        memory = try keys.decodeIfPresent(ByteSize.self, forKey: .memory)
        if let memory, memory.bytes < Self.leastMemory {
            throw ConfigurationError(path: "clients.memory", message: "needs at least 1MiB")
        }
        idleTimeout = try keys.decodeIfPresent(Interval.self, forKey: .idleTimeout) ?? idleTimeout
        requestTimeout = try keys.decodeIfPresent(Interval.self, forKey: .requestTimeout) ?? requestTimeout
        guard connections > 0 else { throw ConfigurationError(path: "clients.connections", message: "needs at least 1") }
        for (name, time) in [("idleTimeout", idleTimeout), ("requestTimeout", requestTimeout)] where time.seconds < 0.1 {
            throw ConfigurationError(path: "clients.\(name)", message: "needs at least 100ms")
        }
    }
}
