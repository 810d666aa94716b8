package import OnesheetCore

extension ServerConfiguration {
    /// Checks that the server limits what strangers can request.
    /// - Throws: `ConfigurationError` if others can reach the server and nothing limits their requests.
    package func requireProtection() throws(ConfigurationError) {
        let hasAllowList = sources.values.contains { source in
            if case .mapping(let keys) = source.configuration { keys["allow"] != nil } else { false }
        }
        guard !listen.isThisMachines, signing.keys.isEmpty, !presetsOnly, !hasAllowList else { return }
        let remedies = "add signing.keys (made with `openssl rand -hex 32`), presetsOnly: true, or a source with an allow-list"
        switch listen {
        case .host(_, let port):
            throw ConfigurationError(
                path: "listen",
                message: """
                    other machines can reach \(listen), and nothing limits what they may ask for; \(remedies), or listen on \
                    127.0.0.1:\(port)
                    """)
        case .socket:
            guard !signing.unsafe else { return }
            throw ConfigurationError(
                path: "listen",
                message: """
                    behind a proxy everybody can reach \(listen), and nothing limits what they may ask for; \(remedies), or signing: \
                    { unsafe: true } if all who reach it may ask for everything
                    """)
        }
    }

    /// Warnings for the operator of a server that may start.
    package var warnings: [String] {
        guard signing.unsafe || (signing.keys.isEmpty && listen.isThisMachines), !presetsOnly else { return [] }
        return [
            """
            “unsafe” is accepted in a signature's place: all who reach \(listen), also through a proxy, may ask for any variant; if \
            these are more than you, set signing.keys (made with `openssl rand -hex 32`)\(signing.unsafe ? " and drop signing.unsafe" : "")
            """
        ]
    }
}
