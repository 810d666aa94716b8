import NIOSSL
public import OnesheetCore

extension ValkeyStore {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The engine, or some nodes of a cluster.
        public var addresses: [ValkeyAddress]
        public var user: String?
        public var password: String?
        /// Whether connections are encrypted.
        public var tls: Bool
        /// A file with authorities (PEM) whose certificates are trusted instead of those of the system.
        public var ca: String?
        /// The beginning of the names of all keys.
        public var prefix: String
        /// The time for an answer.
        public var deadline: Interval

        private enum CodingKeys: CodingKey { case addresses, user, password, tls, ca, prefix, deadline }

        public init(
            addresses: [ValkeyAddress], user: String? = nil, password: String? = nil, tls: Bool = false, ca: String? = nil,
            prefix: String = "onesheet:", deadline: Interval = Interval(.milliseconds(50))
        ) {
            (self.addresses, self.user, self.password) = (addresses, user, password)
            (self.tls, self.ca, self.prefix, self.deadline) = (tls, ca, prefix, deadline)
        }

        public init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                addresses: try keys.decode([ValkeyAddress].self, forKey: .addresses),
                user: try keys.decodeIfPresent(String.self, forKey: .user),
                password: try keys.decodeIfPresent(String.self, forKey: .password),
                tls: try keys.decodeIfPresent(Bool.self, forKey: .tls) ?? false,
                ca: try keys.decodeIfPresent(String.self, forKey: .ca),
                prefix: try keys.decodeIfPresent(String.self, forKey: .prefix) ?? "onesheet:",
                deadline: try keys.decodeIfPresent(Interval.self, forKey: .deadline) ?? Interval(.milliseconds(50)))
        }

        /// - Throws: `ConfigurationError` for the first invalid value.
        func check() throws(ConfigurationError) {
            func refuse(_ path: String, _ message: String) throws(ConfigurationError) {
                throw ConfigurationError(path: path, message: message)
            }
            if addresses.isEmpty { try refuse("addresses", "needs at least one address such as 10.0.0.1:6379") }
            if addresses.count > 100 { try refuse("addresses", "needs some nodes of the cluster, 100 at most") }
            if user != nil, password == nil { try refuse("user", "needs a “password” too") }
            if password?.isEmpty ?? false { try refuse("password", "is empty") }
            if ca != nil, !tls { try refuse("ca", "needs “tls: true”") }
            if prefix.contains(where: { "{}".contains($0) }) || prefix.utf8.count > 100 {
                try refuse("prefix", "“\(prefix)” needs at most 100 bytes and no braces, which decide where a cluster stores a key")
            }
            if !(0.001...10).contains(deadline.seconds) { try refuse("deadline", "needs to be from 1ms to 10s") }
        }

        /// The settings of encrypted connections; `nil` if they are not encrypted.
        func tlsContext() throws(ConfigurationError) -> NIOSSLContext? {
            guard tls else { return nil }
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            if let ca { configuration.trustRoots = .file(ca) }
            do {
                return try NIOSSLContext(configuration: configuration)
            } catch {
                throw ConfigurationError(path: ca == nil ? "tls" : "ca", message: "\(ca ?? "the system's authorities"): \(error)")
            }
        }
    }
}
