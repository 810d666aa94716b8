import ArgumentParser
import FoundationEssentials
import OnesheetCluster
import OnesheetCore
import OnesheetServer

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check or print the configuration, or list every key.",
        subcommands: [Check.self, Print.self, Reference.self])

    struct Check: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check whether a server would start with this configuration.",
            discussion: """
                Prints all errors, each with its file, line and column. Creates no folder and only inspects an existing cache. Tries the
                backends under “shared”, which writes a small object and deletes it, and fails if one cannot be used.
                """)

        @OptionGroup var options: ConfigurationOptions

        func run(with plugins: PluginList) async throws {
            let (configuration, unread) = try options.examine(keys: .supposed)
            let logger = Log.make(configuration.log)
            let errors = try ConfigurationCheck.errors(of: configuration, plugins, besides: unread, logger: logger)
            try Self.report(errors)
            let context = try configuration.locatingErrors { try ServerContext.examined(configuration, plugins, logger: logger) }
            let findings = try await Self.findings(configuration, context)
            try await context.shutdown()
            for finding in findings {
                for warning in finding.warnings {
                    StandardStreams.error("Warning:", as: .warning, " \(finding.backend): \(warning)")
                }
            }
            try Self.report(
                findings.compactMap { finding in
                    finding.error.map { configuration.places.locating(ConfigurationError(path: finding.backend, message: $0)) }
                })
            StandardStreams.output("The configuration is valid: sources \(context.sources.map(\.name).joined(separator: ", "))")
            for warning in configuration.warnings { StandardStreams.error("Warning:", as: .warning, " \(warning)") }
            for note in configuration.notes { StandardStreams.error(note) }
        }

        /// Prints errors, if there are any, and ends the command then.
        private static func report(_ errors: [ConfigurationError]) throws {
            guard !errors.isEmpty else { return }
            for error in errors { StandardStreams.error(error) }
            if errors.count > 1 { StandardStreams.error("onesheet:", as: .error, " \(errors.count) errors") }
            throw ExitCode.failure
        }

        /// The findings of a trial of the backends.
        private static func findings(
            _ configuration: ServerConfiguration, _ context: ServerContext
        ) async throws -> [ServerCluster.Finding] {
            guard let cluster = try context.assembly.cluster(configuration.shared) else { return [] }
            let findings = await cluster.findings()
            await cluster.shutdown()
            return findings
        }
    }

    struct Print: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the complete configuration, including defaults.",
            discussion: """
                What is printed starts the same server. Variables of the environment that stand for secrets are printed as written, such as
                ${NAME}. A secret that the file itself contains is printed as (secret), which no configuration may contain.
                """)

        @OptionGroup var options: ConfigurationOptions

        func run(with plugins: PluginList) async throws {
            StandardStreams.output(lines: try options.load().yaml)
        }
    }

    struct Reference: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "List every key with its type, default and meaning, and the options of presets, as tables in Markdown.")

        func run(with plugins: PluginList) async throws { StandardStreams.output(lines: ConfigurationReference.markdown(plugins)) }
    }
}
