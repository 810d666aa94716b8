import ArgumentParser
import OnesheetCore
import OnesheetPipeline
import OnesheetServer

struct SourcesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources", abstract: "List, inspect and check sources.",
        subcommands: [
            List.self, Sample.self, PrintManifest.self, SourcesCheckCommand.self, Titles.self, ShowPosters.self, Pin.self,
            Unpin.self, Reject.self, Match.self,
            Block.self,
        ], defaultSubcommand: List.self)

    struct List: PluggedCommand {
        static let configuration = CommandConfiguration(abstract: "List the configured sources and the available source types.")

        @Flag(name: .long, help: "Print JSON.") var json = false
        @OptionGroup var options: ConfigurationOptions

        private struct Document: Encodable {
            let sources: [String: String]
            let types: [String]
        }

        func run(with plugins: PluginList) async throws {
            let configuration = try options.load()
            let types = plugins.sources.map { $0.type }.sorted()
            if json {
                try StandardStreams.output(document: Document(sources: configuration.sources.mapValues(\.type), types: types))
                return
            }
            for name in configuration.sourceNames { StandardStreams.output(row: [name, configuration.sources[name]?.type ?? ""]) }
            StandardStreams.output(
                "types: \(types.joined(separator: ", ")); `onesheet sources sample TYPE` prints a sample configuration")
        }
    }

    struct Sample: PluggedCommand {
        static let configuration = CommandConfiguration(abstract: "Print a commented sample configuration of a source type.")

        @Argument(help: "The source type.") var type: String

        func run(with plugins: PluginList) async throws {
            let plugin = try plugins.source(type, at: "type")
            StandardStreams.output(lines: plugin.sampleConfiguration)
        }
    }

    struct PrintManifest: PluggedCommand {
        static let configuration = CommandConfiguration(
            commandName: "manifest", abstract: "Print a built-in manifest, to start one of your own.",
            discussion: """
                  onesheet sources manifest tmdb > films.yaml

                A source reads it with “type: rest” and “manifest: ./films.yaml”.
                """)

        @Argument(help: "The name of the manifest, such as tmdb.") var name: String

        func run(with plugins: PluginList) async throws {
            let all = plugins.sources.reduce(into: [:]) { all, plugin in all.merge(plugin.manifests) { first, _ in first } }
            guard let manifest = all[name] else {
                throw ConfigurationError(path: "manifest", message: unknownName(name, kind: "manifest", known: all.keys.sorted()))
            }
            StandardStreams.output(lines: manifest)
        }
    }

    struct Titles: PluggedCommand {
        static let configuration = CommandConfiguration(abstract: "Print a source's titles.")

        @Argument(help: "The source's name in the configuration.") var name: String
        @Option(name: .long, help: "The list of this day, such as 2026-11-20.", transform: { try CalendarDay(argument: $0) })
        var date: CalendarDay?
        @Option(name: .long, help: "Words to search for.") var query: String?
        @Flag(name: .long, help: "Print JSON.") var json = false
        @OptionGroup var options: ConfigurationOptions

        func run(with plugins: PluginList) async throws {
            let page = try await options.withContext(plugins) {
                await $0.dropOutdatedAnswers(isServer: false)
                return try await $0.catalog.titles(of: name, TitleQuery(date: date, phrase: query))
            }
            if json {
                try StandardStreams.output(document: page)
                return
            }
            for title in page.titles {
                StandardStreams.output(
                    row: [
                        title.rank.map { "\($0)" } ?? "", title.id, title.name, title.releaseDate.map { "\($0)" } ?? "",
                    ])
            }
        }
    }
}
