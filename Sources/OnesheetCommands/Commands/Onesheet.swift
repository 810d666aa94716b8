import ArgumentParser
import Dispatch
import FoundationEssentials
import OnesheetCache
public import OnesheetCore
import OnesheetIsolation
import OnesheetServer

/// The command line. A server's `main` only calls `Onesheet.main` with its plugins.
public enum Onesheet {
    /// The version of the server (Semantic Versioning 2.0.0). `--version` prints it, and it is the newest version in
    /// `CHANGELOG.md`.
    public static let version = ServerVersion.current

    /// Runs the command that the arguments name, and exits the process: 0 success, 1 failure, 64 usage error, 130 or 143 if SIGINT or
    /// SIGTERM interrupted `prefetch`, `bundle` or `render`. A server that a signal stops exits with 0.
    /// - Parameters:
    ///   - plugins: the plugins of this server.
    ///   - arguments: the arguments without the program's name. `nil` takes those of the process.
    public static func main(_ plugins: PluginList, arguments: [String]? = nil) -> Never {
        becomeRenderProcessIfAsked(plugins)
        Task.detached { await run(plugins, arguments: arguments) }
        dispatchMain()
    }

    /// The same for a `main` that is asynchronous. Its render processes have a few more threads, which do nothing.
    public static func main(_ plugins: PluginList, arguments: [String]? = nil) async -> Never {
        becomeRenderProcessIfAsked(plugins)
        await run(plugins, arguments: arguments)
    }

    /// A server starts its own program for its render processes.
    private static func becomeRenderProcessIfAsked(_ plugins: PluginList) {
        RenderProgram.runIfAsked { limits, configurations in try plugins.codecs(limits: limits, configurations) }
    }

    private static func run(_ plugins: PluginList, arguments: [String]?) async -> Never {
        if let unknown = CommandName.unknown(in: arguments ?? Array(CommandLine.arguments.dropFirst())) {
            StandardStreams.error("onesheet:", as: .error, " \(unknown)")
            RootCommand.exit(withError: ExitCode.validationFailure)
        }
        do {
            var command = try RootCommand.parseAsRoot(arguments)
            if let plugged = command as? any PluggedCommand {
                try await plugged.run(with: plugins)
            } else {
                try command.run()
            }
            exit(withStatus: 0)
        } catch {
            // ArgumentParser prints help and usage errors. Other errors are printed as one line.
            let isParserError = error is ExitCode || [.success, .validationFailure].contains(RootCommand.exitCode(for: error))
            if isParserError { exit(withParserError: error, about: arguments) }
            StandardStreams.error("onesheet:", as: .error, " " + "\(error)".split(separator: "\n").joined(separator: " "))
            exit(withStatus: 1)
        }
    }

    /// Prints help, or a usage error, which may quote an argument.
    private static func exit(withParserError error: any Error, about arguments: [String]?) -> Never {
        let status = RootCommand.exitCode(for: error)
        if status == .success { RootCommand.exit(withError: error) }
        let message = RootCommand.fullMessage(for: error)
        let quoted = arguments ?? Array(CommandLine.arguments.dropFirst())
        if !message.isEmpty { StandardStreams.error(lines: TerminalText.escaping(quoted, in: message)) }
        RootCommand.exit(withError: status)
    }

    private static func exit(withStatus status: Int32) -> Never {
        RootCommand.exit(withError: status == 0 ? nil : ExitCode(status))
    }
}

/// A command that uses the plugins.
protocol PluggedCommand: ParsableCommand, Sendable {
    func run(with plugins: PluginList) async throws
}

struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "onesheet",
        abstract: "An image cache server for film posters.",
        discussion: """
            Onesheet finds posters in content sources, resizes them on request, and caches the results in memory and on disk.

              onesheet serve                              serve the built-in sample source on http://127.0.0.1:8080/
              onesheet prefetch sample                    render its thumbnails in advance
              onesheet render in.jpg -o out.png           resize one file, without a server
              onesheet serve --config onesheet.yaml       serve your own sources

            On a terminal, errors and warnings are coloured, unless NO_COLOR is
            not empty or TERM is dumb.
            """,
        version: Onesheet.version,
        subcommands: [
            ServeCommand.self, PrefetchCommand.self, BundleCommand.self, RenderCommand.self, SourcesCommand.self, CacheCommand.self,
            SignCommand.self, ExplainCommand.self, ConfigCommand.self, NewSourceCommand.self,
        ])
}

/// The options of every command that reads the configuration.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration file. Default: ./onesheet.yaml if it exists. What it does not say, the environment says: `serve --help`.",
            valueName: "file"),
        completion: .file())
    var config: String?

    @Option(
        name: .long, help: ArgumentHelp("The folder of the disk cache, instead of the configured one.", valueName: "dir"),
        completion: .directory)
    var cache: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Record the responses of services in this folder, without secrets.", valueName: "dir"),
        completion: .directory)
    var record: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Replay the recorded responses in this folder: no keys, no network.", valueName: "dir"),
        completion: .directory)
    var replay: String?

    func validate() throws {
        guard record == nil || replay == nil else { throw ValidationError("--record and --replay cannot be combined") }
    }

    /// The configuration file, which may not exist.
    var files: [String] { [config ?? ConfigurationFile.defaultName] }

    /// - Parameters:
    ///   - listen: the address of the command line.
    ///   - use: what to do about the keys that a server makes for itself.
    func load(listen: ListenAddress? = nil, keys use: KeptKeys.Use = .present) throws -> ServerConfiguration {
        let (configuration, errors) = try examine(listen: listen, keys: use)
        if let first = errors.first {
            throw errors.count > 1 ? first.adding("; `onesheet config check` lists all errors") : first
        }
        return configuration
    }

    /// Loads the configuration as far as it can be read, and all errors.
    func examine(
        listen: ListenAddress? = nil, keys use: KeptKeys.Use
    ) throws -> (configuration: ServerConfiguration, errors: [ConfigurationError]) {
        try use.applied { kept, usesThem in
            var (configuration, errors) = try ConfigurationFile(kept: kept, usesThem: usesThem).examine(config)
            change(&configuration)
            if let listen { configuration.listen = listen }
            return (configuration, errors)
        }
    }

    private func change(_ configuration: inout ServerConfiguration) {
        if let cache { configuration.cache.disk.path = cache }
        if let record { configuration.recordReplay = .record(folder: record) }
        if let replay { configuration.recordReplay = .replay(folder: replay) }
    }

    /// Creates the context of the configuration.
    private func context(_ plugins: PluginList) throws -> ServerContext {
        let configuration = try load()
        return try configuration.locatingErrors {
            try ServerContext(configuration, plugins, isForOperator: true, logger: Log.make(configuration.log))
        }
    }

    /// Runs `body` with the context of the configuration, and shuts the context down, even if `body` throws.
    func withContext<Outcome>(
        _ plugins: PluginList, _ body: (ServerContext) async throws -> Outcome
    ) async throws -> Outcome {
        let context = try context(plugins)
        return try await finally({ try await context.shutdown() }) { try await body(context) }
    }
}

extension ServerConfiguration {
    /// Opens the disk cache alone, without sources and codecs. `nil` if the folder does not exist; it is not created.
    func openDiskCache() throws -> DiskTier? {
        guard try FolderExamination.isThere(cache.disk.path) else { return nil }
        return try DiskTier(cache.disk, clock: .system, logger: Log.make(log))
    }
}
