import OnesheetCore

extension ServerConfiguration {
    /// Holds what a server lets strangers do against where it listens.
    /// - Throws: `ConfigurationError` where other machines can reach it and nothing limits what they may ask for.
    func requireProtection() throws(ConfigurationError) {
        let hasAllowList = sources.values.contains { source in
            if case .mapping(let keys) = source.configuration { keys["allow"] != nil } else { false }
        }
        guard !listen.isLoopback, case .host(_, let port) = listen, signing.keys.isEmpty, !presetsOnly, !hasAllowList else {
            return
        }
        throw ConfigurationError(
            path: "listen",
            message: """
                other machines can reach \(listen), and nothing limits what they may ask for; add signing.keys (made with \
                `openssl rand -hex 32`), presetsOnly: true, or a source with an allow-list, or listen on 127.0.0.1:\(port)
                """)
    }
}
