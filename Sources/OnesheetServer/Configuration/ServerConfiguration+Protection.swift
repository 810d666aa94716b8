package import OnesheetCore

extension ServerConfiguration {
    /// Checks that the server limits what strangers can request.
    /// - Throws: `ConfigurationError` if others can reach the server and nothing limits their requests.
    package func requireProtection() throws(ConfigurationError) {
        let hasAllowList = sources.values.contains { source in
            if case .mapping(let keys) = source.configuration { keys["allow"] != nil } else { false }
        }
        guard !listen.servesOnlyThisMachine, signing.keys.isEmpty, !presetsOnly, !hasAllowList else { return }
        let remedies = "add signing.keys (made with `openssl rand -hex 32`), presetsOnly: true, or a source with an allow-list"
        switch listen {
        case .host(_, let port):
            throw ConfigurationError(
                path: "listen",
                message: """
                    other machines can reach \(listen), and nothing limits their requests; \(remedies), or listen on \
                    127.0.0.1:\(port)
                    """)
        case .socket:
            guard !signing.unsafe else { return }
            throw ConfigurationError(
                path: "listen",
                message: """
                    a proxy may expose \(listen) to everyone, and nothing limits their requests; \(remedies), or signing: \
                    { unsafe: true } if every client may request any variant
                    """)
        }
    }

    /// Warnings for the operator of a server that may start.
    package var warnings: [String] {
        guard signing.unsafe || (signing.keys.isEmpty && listen.servesOnlyThisMachine), !presetsOnly else { return [] }
        return [
            """
            “unsafe” is accepted in place of a signature: every client that reaches \(listen), also through a proxy, may request any \
            variant; unless you intend that, set signing.keys (made with `openssl rand -hex 32`)\
            \(signing.unsafe ? " and remove signing.unsafe" : "")
            """
        ]
    }
}
