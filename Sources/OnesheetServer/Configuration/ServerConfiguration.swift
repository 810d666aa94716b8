package import NIOCore
import OnesheetAddress
import OnesheetCache
import OnesheetCluster
package import OnesheetCore

/// The configuration file. Each section owns its keys, defaults and checks.
package struct ServerConfiguration: Sendable, ConfigurationSection {
    package var listen = ListenAddress.host("127.0.0.1", port: 8080)
    package var socketMode = SocketMode(bits: 0o660)
    package var tls: TLSFiles?
    /// PEM file with authorities that are trusted for outgoing HTTPS.
    package var trustedAuthorities: String?
    package var cache = CacheConfiguration()
    package var shared = SharedConfiguration()
    package var signing = SigningConfiguration()
    package var admin = AdminConfiguration()
    package var limits = LimitsConfiguration()
    package var clients = ClientsConfiguration()
    package var log = LogConfiguration()
    package var accessLog = AccessLogConfiguration()
    package var tracing = TracingConfiguration()
    package var shutdown = ShutdownConfiguration()
    package var isPublic = PublicConfiguration()
    package var cors = CORSConfiguration()
    /// Whether responses name the server and its version.
    package var serverHeader = true
    package var rendering = RenderingConfiguration()
    package var presets: [String: String] = [:]
    package var presetsOnly = false
    package var dialects: [DialectConfiguration] = []
    package var fallback = FallbackConfiguration()
    package var sources: [String: NestedSource] = [:]
    package var prefetch: [PrefetchConfiguration] = []
    /// What a start says about the configuration, such as which variables would open other sources.
    package var notes: [String] = []
    /// Values from environment variables. They are never printed.
    package var secrets: [String] = []
    package var recordReplay = RecordReplay.off
    /// How long a client may make no progress while others need the room for their responses, if not the usual time. Not a key: only tests
    /// change it.
    package var stallTimeout: TimeAmount?
    /// Source names in file order. The console shows the first source's titles.
    package var sourceNames: [String] = []
    /// The file with unexpanded variables.
    package var written: PrintedValue?
    /// The place of each key in the file.
    package var places = ConfigurationPlaces()

    /// The configuration without a file: the built-in sample source.
    package init() {
        sources = ["sample": NestedSource(type: "sample", configuration: .mapping([:]))]
        sourceNames = ["sample"]
    }

    package init(from decoder: any Decoder) throws {
        self.init()
        // A file lists its own sources.
        sources = [:]
        sourceNames = []
        try read(from: decoder)
        sourceNames = sources.keys.sorted()
    }

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "listen", \.listen, meaning: "`host:port`, `[::1]:8080`, or `unix:/run/onesheet/onesheet.sock`"),
            Setting("socketMode", \.socketMode, meaning: "permissions of a Unix socket"),
            Setting("tls", \.tls, defaultText: "none: plain HTTP", meaning: "HTTPS"),
            Setting(
                "trustedAuthorities", \.trustedAuthorities, defaultText: "none: only the system's, or those in `SSL_CERT_FILE`",
                meaning:
                    "PEM file with authorities whose certificates are trusted for images and services too, such as your own; read at the start"
            ),
            Setting("cache", \.cache, meaning: "the tiers"),
            Setting("shared", \.shared, meaning: "what several servers share"),
            Setting("signing", \.signing, meaning: "signed URLs"),
            Setting("admin", \.admin, meaning: "administration over HTTP"),
            Setting("limits", \.limits, meaning: "limits of resources"),
            Setting("clients", \.clients, meaning: "limits of clients"),
            Setting("log", \.log, meaning: "the log"),
            Setting("accessLog", \.accessLog, meaning: "the access log"),
            Setting("tracing", \.tracing, meaning: "traces of requests"),
            Setting("shutdown", \.shutdown, meaning: "graceful shutdown"),
            Setting("public", \.isPublic, meaning: "what everyone gets beside images"),
            Setting("cors", \.cors, meaning: "cross-origin access"),
            Setting("serverHeader", \.serverHeader, meaning: "send `Server: onesheet/VERSION`"),
            Setting("rendering", \.rendering, meaning: "rendering of variants"),
            Setting("presets", \.presets, meaning: "names for options, used as `pr:NAME`"),
            Setting(
                "presetsOnly", \.presetsOnly, meaning: "allow only presets in free transforms, without signatures"),
            Setting(
                "dialects", \.dialects,
                meaning: "see [HTTP API](http-api.md#addresses-of-other-image-servers)"),
            Setting("fallback", \.fallback, meaning: "images for what does not exist"),
            Setting("prefetch", \.prefetch, meaning: "daily prefetch schedule"),
            Setting("sources", \.sources, meaning: "sources of posters"),
        ]
    }

    package func check() throws(ConfigurationError) {
        if let first = errors().first { throw first }
    }

    package func errors() -> [ConfigurationError] {
        guard !sources.isEmpty else { return [ConfigurationError(path: "sources", message: "needs at least one source")] }
        var errors: [ConfigurationError] = []
        for name in sources.keys.sorted() where !TitleReference.isSourceName(name) || ["http", "https"].contains(name) {
            errors.append(
                ConfigurationError(
                    path: "sources.\(name)",
                    message:
                        "a source's name is the scheme of its URLs: a lower-case letter, then letters, digits, “-”, “+” or “.”, and not http or https"
                ))
        }
        if shared.store != nil, let index = cache.tiers.firstIndex(where: { $0.name == SharedTier.name }) {
            errors.append(
                ConfigurationError(
                    path: "cache.tiers.[\(index)].name",
                    message: "“\(SharedTier.name)” is the tier of shared.store; give this one another name"))
        }
        for (index, line) in prefetch.enumerated() where sources[line.source] == nil {
            errors.append(
                ConfigurationError(
                    path: "prefetch.[\(index)].source", message: unknownName(line.source, kind: "source", known: sources.keys)))
        }
        return errors
    }

    /// Files, beside the configuration file, that the server watches for changes.
    package var files: [String] { tls.map { [$0.certificate, $0.key] } ?? [] }

    /// Runs `body`, and adds their place in the file to its errors of the configuration.
    package func locatingErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw places.locating(error) }
    }

    /// The complete configuration as YAML, with defaults. Secrets are printed as the variables they come from, or omitted.
    package var yaml: String {
        var complete = self
        complete.clients.memory = ByteSize(clients.memory(within: limits.limits))
        complete.clients.namedProxies = clients.namedProxies ?? [.loopback]
        return complete.printed(written).yaml
    }
}

extension ServerConfiguration {
    /// Checks that the server limits what strangers can request.
    /// - Throws: `ConfigurationError` if others can reach the server and nothing limits their requests.
    package func requireProtection() throws(ConfigurationError) {
        let hasAllowList = sources.values.contains { source in
            if case .mapping(let keys) = source.configuration { keys["allow"] != nil } else { false }
        }
        guard !listen.servesOnlyThisMachine, signing.hasNoKeys, !presetsOnly, !hasAllowList else { return }
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

    /// Whether others can reach the server and nothing limits their requests.
    var isOpenToStrangers: Bool {
        do throws(ConfigurationError) {
            try requireProtection()
            return false
        } catch {
            return true
        }
    }

    /// Checks and creates signatures as configured. No key is needed if only this machine can reach the server, or if it allows only
    /// presets.
    var signature: Signature { Signature(signing, needsKey: !listen.servesOnlyThisMachine && !presetsOnly) }

    /// Warnings for the operator of a server that may start.
    package var warnings: [String] {
        guard signing.unsafe || (signing.hasNoKeys && listen.servesOnlyThisMachine), !presetsOnly else { return [] }
        return [
            """
            “unsafe” is accepted in place of a signature: every client that reaches \(listen), also through a proxy, may request any \
            variant; unless you intend that, set signing.keys (made with `openssl rand -hex 32`)\
            \(signing.unsafe ? " and remove signing.unsafe" : "")
            """
        ]
    }
}

extension ServerConfiguration {
    /// This configuration with the values of `running` for keys that a running server cannot change, and the list of such keys that
    /// differ.
    func taking(fixedPartsOf running: ServerConfiguration) -> (configuration: ServerConfiguration, fixed: [String]) {
        var configuration = self
        var fixed: [String] = []
        func keep<Value: Equatable>(_ part: WritableKeyPath<ServerConfiguration, Value>, _ key: String) {
            if configuration[keyPath: part] != running[keyPath: part] { fixed.append(key) }
            configuration[keyPath: part] = running[keyPath: part]
        }
        keep(\.listen, "listen")
        keep(\.socketMode, "socketMode")
        keep(\.tls, "tls")
        keep(\.cache, "cache")
        keep(\.shared, "shared")
        keep(\.limits, "limits")
        keep(\.clients, "clients")
        keep(\.log, "log")
        keep(\.accessLog, "accessLog")
        keep(\.tracing, "tracing")
        keep(\.shutdown, "shutdown")
        // The render threads are created with this deadline.
        keep(\.rendering.deadline, "rendering.deadline")
        configuration.recordReplay = running.recordReplay
        return (configuration, fixed)
    }
}
