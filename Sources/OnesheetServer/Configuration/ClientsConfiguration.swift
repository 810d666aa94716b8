package import OnesheetCore

/// The keys of `clients`: how many there may be, and how long each is waited for.
package struct ClientsConfiguration: Sendable, Decodable, Equatable {
    /// Connections at the same time; the next ones wait in the system's queue.
    package var connections = 8192
    /// How long a connection may stay open without a request, and how long a client may take none of an answer.
    package var idleTimeout = Interval(.seconds(75))
    /// How long a client may take to send one request.
    package var requestTimeout = Interval(.seconds(15))

    private enum CodingKeys: CodingKey { case connections, idleTimeout, requestTimeout }

    package init() {}

    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        connections = try keys.decodeIfPresent(Int.self, forKey: .connections) ?? connections
        idleTimeout = try keys.decodeIfPresent(Interval.self, forKey: .idleTimeout) ?? idleTimeout
        requestTimeout = try keys.decodeIfPresent(Interval.self, forKey: .requestTimeout) ?? requestTimeout
        guard connections > 0 else { throw ConfigurationError(path: "clients.connections", message: "needs at least 1") }
        for (name, time) in [("idleTimeout", idleTimeout), ("requestTimeout", requestTimeout)] where time.seconds < 0.1 {
            throw ConfigurationError(path: "clients.\(name)", message: "needs at least 100ms")
        }
    }
}
