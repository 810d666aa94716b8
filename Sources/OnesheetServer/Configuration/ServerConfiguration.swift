package import OnesheetCore

/// The configuration file. Each part owns its keys, what holds without them, and what is refused.
package struct ServerConfiguration: Sendable, Decodable {
    package var listen = ListenAddress.host("127.0.0.1", port: 8080)
    /// Who may connect where that is a Unix socket: those who may write to it.
    package var socketMode = SocketMode(bits: 0o660)
    /// Without it the server speaks plain HTTP.
    package var tls: TLSFiles?
    package var cache = CacheConfiguration()
    package var signing = SigningConfiguration()
    package var admin = AdminConfiguration()
    package var limits = LimitsConfiguration()
    package var clients = ClientsConfiguration()
    package var log = LogConfiguration()
    package var shutdown = ShutdownConfiguration()
    package var cors = CORSConfiguration()
    package var rendering = RenderingConfiguration()
    package var presets: [String: String] = [:]
    /// Whether free transforms are those of `presets` and no others; then they need no signature.
    package var presetsOnly = false
    /// The address grammars of other image servers that are understood too.
    package var dialects: [DialectName] = []
    package var sources: [String: NestedSource] = [:]
    /// What is prefetched each day.
    package var prefetch: [PrefetchConfiguration] = []
    /// What the file took from the environment: never written down.
    package var secrets: [String] = []
    package var tape = Tape.off
    /// The sources' names in the order of the file: the first one's titles are on the page.
    package var sourceNames: [String] = []

    private enum CodingKeys: CodingKey {
        case listen, socketMode, tls, cache, signing, admin, limits, clients, log, shutdown, cors, rendering, presets, presetsOnly,
            dialects, prefetch, sources
    }

    /// What holds without a file: the built-in sample source.
    package init() {
        sources = ["sample": NestedSource(type: "sample", configuration: .mapping([:]))]
        sourceNames = ["sample"]
    }

    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        listen = try keys.decodeIfPresent(ListenAddress.self, forKey: .listen) ?? listen
        socketMode = try keys.decodeIfPresent(SocketMode.self, forKey: .socketMode) ?? socketMode
        tls = try keys.decodeIfPresent(TLSFiles.self, forKey: .tls)
        cache = try keys.decodeIfPresent(CacheConfiguration.self, forKey: .cache) ?? cache
        signing = try keys.decodeIfPresent(SigningConfiguration.self, forKey: .signing) ?? signing
        admin = try keys.decodeIfPresent(AdminConfiguration.self, forKey: .admin) ?? admin
        limits = try keys.decodeIfPresent(LimitsConfiguration.self, forKey: .limits) ?? limits
        clients = try keys.decodeIfPresent(ClientsConfiguration.self, forKey: .clients) ?? clients
        log = try keys.decodeIfPresent(LogConfiguration.self, forKey: .log) ?? log
        shutdown = try keys.decodeIfPresent(ShutdownConfiguration.self, forKey: .shutdown) ?? shutdown
        cors = try keys.decodeIfPresent(CORSConfiguration.self, forKey: .cors) ?? cors
        rendering = try keys.decodeIfPresent(RenderingConfiguration.self, forKey: .rendering) ?? rendering
        presets = try keys.decodeIfPresent([String: String].self, forKey: .presets) ?? presets
        presetsOnly = try keys.decodeIfPresent(Bool.self, forKey: .presetsOnly) ?? presetsOnly
        dialects = try keys.decodeIfPresent([DialectName].self, forKey: .dialects) ?? dialects
        sources = try keys.decodeIfPresent([String: NestedSource].self, forKey: .sources) ?? sources
        prefetch = try keys.decodeIfPresent([PrefetchConfiguration].self, forKey: .prefetch) ?? prefetch
        guard !sources.isEmpty else { throw ConfigurationError(path: "sources", message: "needs at least one source") }
        for name in sources.keys where !TitleReference.isSourceName(name) || ["http", "https"].contains(name) {
            throw ConfigurationError(
                path: "sources.\(name)",
                message:
                    "a source's name is the scheme of its URLs: a lower-case letter, then letters, digits, “-”, “+” or “.”, and not http or https"
            )
        }
        sourceNames = sources.keys.sorted()
        for (index, line) in prefetch.enumerated() where sources[line.source] == nil {
            throw ConfigurationError(
                path: "prefetch.[\(index)].source", message: unknownName(line.source, kind: "source", known: sourceNames))
        }
    }
}

/// Who may administer.
package struct AdminConfiguration: Sendable, Decodable {
    /// The bearer token; without one there is no administration over HTTP.
    package var token: String?

    package init() {}
}
