import ArgumentParser
import OnesheetCache
import OnesheetCore
import OnesheetServer
import Synchronization
import UnixSignals

struct ServeCommand: PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve posters over HTTP.",
        discussion: """
            Without a configuration file, variables of the environment say what it serves, and a file overrides them key by key:

              TMDB_TOKEN                    The Movie Database, or TMDB_KEY for a key of its version 3
              KOBIS_KEY with KAKAO_KEY      the Korean box office
              FANART_KEY                    fanart.tv
              ONESHEET_LISTEN               the address to listen on
              ONESHEET_CACHE                the folder of the disk cache
              ONESHEET_SIGNING_KEY          with ONESHEET_SIGNING_SALT, the key of signed addresses, in hexadecimal
              ONESHEET_ADMIN_TOKEN          the administrator's token

            Without a source, it serves the built-in sample: no keys, no network. If other machines can reach it and nothing limits
            their requests, the first start makes keys and keeps them in the folder of the cache.

            Ctrl-C or SIGTERM stops it after the requests in progress; a second one stops it at once.
            A changed configuration file, certificate or manifest takes effect within two seconds, or at once with SIGHUP.

            Try: curl -O http://127.0.0.1:8080/t/p/w342/sample/1.jpg
            """)

    @OptionGroup var options: ConfigurationOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The address to listen on, such as 127.0.0.1:8080 or unix:/run/onesheet.sock. Port 0 lets the system choose.",
            valueName: "address"),
        transform: { text in
            guard let address = ListenAddress(text) else {
                throw ValidationError("“\(text)” is not an address such as 127.0.0.1:8080 or unix:/run/onesheet.sock")
            }
            return address
        })
    var listen: ListenAddress?

    func run(with plugins: PluginList) async throws {
        // Their states before they are read, because they may be replaced meanwhile.
        let file = FileStamp.now(options.files)
        let configuration = try load()
        let own = file.merging(FileStamp.now(configuration.files)) { file, _ in file }
        let server = try configuration.locatingErrors {
            try Server(configuration, plugins, logger: Log.make(configuration.log))
        }
        let read = Mutex(own)
        let control = await ServerControl(
            server,
            load: {
                read.withLock { $0 = FileStamp.now($0.keys) }
                return try load()
            }, files: { read.withLock { $0 }.merging(server.sourceFiles) { own, _ in own } })
        let controlling = Task { await control.run() }
        defer { controlling.cancel() }
        try await server.run { address in
            for note in configuration.notes { StandardStreams.output(note) }
            StandardStreams.output(lines: Self.greeting(address, configuration, list: server.firstListedSource))
        }
    }

    private func load() throws -> ServerConfiguration { try options.load(listen: listen, keys: .needed) }

    /// The startup message: addresses to try, each of which everyone may request.
    /// - Parameter list: the first source with lists, if there is one.
    private static func greeting(_ address: ListenAddress, _ configuration: ServerConfiguration, list: String?) -> String {
        let sources = configuration.sourceNames
        guard case .host = address else { return "Onesheet serves \(sources.joined(separator: ", ")) on \(address)" }
        let base = "\(configuration.tls == nil ? "http" : "https")://\(address)"
        let isPublic = configuration.isPublic
        let console = isPublic.console ? ["/"] : []
        let titles = isPublic.lists ? list.map { ["/sources/\($0)/titles"] } ?? [] : []
        let image = configuration.sources["sample"]?.type == "sample" ? "/t/p/w342/sample/1.jpg" : "/metrics"
        return
            (["Onesheet serves \(sources.joined(separator: ", ")). Try:"] + (console + titles + [image]).map { "  \(base)\($0)" })
            .joined(separator: "\n")
    }
}

/// Controls a running server: signals, and changes of its files.
private struct ServerControl {
    let server: Server
    /// Loads the configuration with the command line's options.
    let load: @Sendable () throws -> ServerConfiguration
    /// The files to watch now, each with its state before it was read.
    let files: @Sendable () -> [String: FileStamp?]
    /// SIGTERM, SIGINT and SIGHUP, trapped from initialization on.
    private let signals: UnixSignalsSequence

    init(
        _ server: Server, load: @escaping @Sendable () throws -> ServerConfiguration,
        files: @escaping @Sendable () -> [String: FileStamp?]
    ) async {
        self.server = server
        self.load = load
        self.files = files
        signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    }

    /// Runs until the task is cancelled. SIGTERM and SIGINT shut the server down gracefully, or at once when repeated. SIGHUP
    /// reloads the files.
    func run() async {
        let (reloads, request) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { for await _ in reloads { await server.reload(load) } }
            tasks.addTask { await FileWatch(files).run { request.yield() } }
            tasks.addTask {
                for await signal in signals {
                    if signal == .sighup {
                        request.yield()
                    } else if !server.drain() {
                        await server.abandonSources()
                        ServeCommand.exit(withError: ExitCode.failure)
                    }
                }
            }
        }
    }
}
