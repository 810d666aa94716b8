package import OnesheetCore

/// The keys of `clients`: their limits and timeouts.
package struct ClientsConfiguration: Sendable, ConfigurationSection, Equatable {
    package var connections = 8192
    /// The limits of one address. Trusted proxies have no limits.
    package var perAddress = PerAddress()
    /// The configured proxies. `nil` if the key is absent. If it is present, `X-Forwarded-Proto` counts only from these proxies.
    package var namedProxies: [ProxyRange]?
    /// The memory for responses that clients have not read yet. A part of `limits.memory`.
    package var memory: ByteSize?
    package var idleTimeout = Interval(.seconds(75))
    package var requestTimeout = Interval(.seconds(15))

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "connections", \.connections,
                meaning:
                    "concurrent connections; further ones wait in the system's queue. When less than a sixteenth is free, idle ones are "
                    + "closed. With TLS there are fewer if 128 KiB for each would take more than three eighths of `limits.memory`"),
            Setting("perAddress", \.perAddress, meaning: "limits of one address"),
            Setting(
                "trustedProxies", \.namedProxies, defaultText: "`[loopback]`",
                meaning:
                    "networks of proxies whose `X-Forwarded-For` or `Forwarded` names the client: CIDR, `loopback`, `private`, "
                    + "`public`. A Unix socket is always trusted"),
            Setting(
                "memory", \.memory, defaultText: "a quarter of `limits.memory`, or two `limits.originBytes`",
                meaning: "memory for responses that clients have not read yet; at least `1MiB`"),
            Setting(
                "idleTimeout", \.idleTimeout,
                meaning:
                    "timeout of connections without a request, and of clients that read none of a response; shorter when few connections "
                    + "are free; at least `100ms`"),
            Setting("requestTimeout", \.requestTimeout, meaning: "timeout for a client to send one request; at least `100ms`"),
        ]
    }

    /// Proxies whose `X-Forwarded-For` or `Forwarded` names the client. Unix sockets are always trusted.
    package var trustedProxies: [NetworkRange] { namedProxies?.map(\.range) ?? [.loopback] }

    private static let minimumMemory = 1 << 20

    /// The memory for responses that clients have not read yet, in bytes.
    func memory(within limits: Limits) -> Int {
        memory?.bytes ?? min(limits.memory, max(limits.memory / 4, limits.originBytes * 2))
    }

    package func check() throws(ConfigurationError) {
        if let memory, memory.bytes < Self.minimumMemory {
            throw ConfigurationError(path: "clients.memory", message: "needs at least 1MiB")
        }
        guard connections > 0 else { throw ConfigurationError(path: "clients.connections", message: "needs at least 1") }
        for (name, time) in [("idleTimeout", idleTimeout), ("requestTimeout", requestTimeout)] where time.seconds < 0.1 {
            throw ConfigurationError(path: "clients.\(name)", message: "needs at least 100ms")
        }
    }

    /// The keys of `clients.perAddress`: the limits of one IPv4 address, or of one IPv6 /64. 0 means no limit.
    package struct PerAddress: Sendable, ConfigurationSection, Equatable {
        package var connections = 256
        package var misses = 20.0
        package var burst = 400

        package init() {}

        package static var settings: [Setting<Self>] {
            [
                Setting(
                    "connections", \.connections,
                    meaning: "concurrent connections of one address or IPv6 /64; further ones are closed; 0 is no limit"),
                Setting(
                    "misses", \.misses,
                    meaning:
                        "images, lists and titles per second that one address may cause to be fetched or rendered; beyond that 429; 0 is no "
                        + "limit"),
                Setting("burst", \.burst, meaning: "number of misses allowed in a burst before the rate applies"),
            ]
        }

        package func check() throws(ConfigurationError) {
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
}

/// A network of proxies, and its written form.
package struct ProxyRange: Sendable, SettingValue, Equatable, CustomStringConvertible {
    package static let kind = "network"

    package let range: NetworkRange
    package let description: String

    static let loopback = ProxyRange(range: .loopback, description: "loopback")

    private init(range: NetworkRange, description: String) {
        self.range = range
        self.description = description
    }

    package init(from decoder: any Decoder) throws {
        self.init(range: try NetworkRange(from: decoder), description: try String(from: decoder))
    }
}
