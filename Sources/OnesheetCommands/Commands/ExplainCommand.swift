import ArgumentParser
import FoundationEssentials
import OnesheetCore
import OnesheetServer

struct ExplainCommand: PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain what the address of an image requests, and what the cache has of it.",
        discussion: """
            ADDRESS is a path of the server or a whole URL, in any enabled dialect. Its host is ignored. The command reads the disk
            cache and fetches nothing without --fetch. A running server also explains its memory and its last renders: see
            GET /explain, and the page.

              onesheet explain /t/p/w342/sample/1.jpg
              onesheet explain 'https://posters.example/i/unsafe/rs:fill:300:450/plain/sample://1@png' --json
            """)

    @Argument(help: "The address of an image.") var address: String
    @Flag(name: .long, help: "Fetch and render the image if the cache does not have it.") var fetch = false
    @Option(name: .long, help: ArgumentHelp("The Accept header of the client.", valueName: "types")) var accept: String?
    @Flag(name: .long, help: "Print JSON.") var json = false
    @OptionGroup var options: ConfigurationOptions

    func run(with plugins: PluginList) async throws {
        let explanation = try await options.withContext(plugins) { context in
            try await context.explainer.explain(
                address, accept: accept, Explainer.Depth(fetches: fetch, countsPurge: true, revealsSources: true))
        }
        if json { return try StandardStreams.output(document: explanation) }
        for (name, text) in ExplanationText(explanation).lines {
            StandardStreams.output(name, as: .name, String(repeating: " ", count: max(12 - name.count, 1)) + text)
        }
    }
}
