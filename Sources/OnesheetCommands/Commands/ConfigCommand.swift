import ArgumentParser
import FoundationEssentials
import OnesheetCore
import OnesheetServer

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check the configuration, print what holds, or list every key.",
        subcommands: [Check.self, Print.self, Reference.self])

    struct Check: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say whether a server would start with this configuration.",
            discussion: "Nothing is written: no folder is made, and a cache is only looked at.")

        @OptionGroup var options: ConfigurationOptions

        func run(with plugins: PluginList) async throws {
            let configuration = try options.load()
            try configuration.requireProtection()
            if let files = configuration.tls { _ = try Certificate(files) }
            let context = try options.examinedContext(plugins)
            try await context.shutdown()
            StandardStreams.output("The configuration is good: sources \(context.sources.map(\.name).joined(separator: ", "))")
            for warning in configuration.warnings { StandardStreams.error("Warning: \(warning)") }
        }
    }

    struct Print: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the configuration that holds, with everything that was left out.",
            discussion: "Of a secret, the variable that it is taken from is shown and nothing else.")

        @OptionGroup var options: ConfigurationOptions

        func run(with plugins: PluginList) async throws {
            StandardStreams.output(try options.load().yaml)
        }
    }

    struct Reference: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List every key with its type, its default and its meaning, as tables in Markdown.")

        func run() { StandardStreams.output(ConfigurationReference.markdown) }
    }
}
