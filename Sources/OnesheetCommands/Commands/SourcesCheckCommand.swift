import ArgumentParser
import OnesheetCore
import OnesheetServer

struct SourcesCheckCommand: PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Try a source, and say what is wrong and what to do.",
        discussion: """
            Asks the source itself, whatever is kept of its answers, for the newest list, its first title, that title's candidates
            and its poster. Then it tries the rules that every
            source has to keep, over the real service and over a network that is broken on purpose: some thirty calls in all.
            """)

    @Argument(help: "The source's name in the configuration.") var name: String
    @Option(name: .long, help: "The title to ask for, where the source has no list: an id, or a phrase to search for.")
    var id: String?
    @Flag(name: .long, help: "Print JSON.") var json = false
    @OptionGroup var options: ConfigurationOptions

    func run(with plugins: PluginList) async throws {
        let context = try options.context(plugins)
        let report: SourceCheck.Report
        do {
            report = try await SourceCheck(context: context, name: name, id: id).run()
        } catch {
            try await context.shutdown()
            throw error
        }
        try await context.shutdown()
        if json {
            try printDocument(report)
        } else {
            for step in report.steps { StandardStreams.output("\(step.passed ? "✓" : "✗") \(step.what): \(step.outcome)") }
            for finding in report.rules { StandardStreams.output(finding.description) }
        }
        if !report.passed { throw ExitCode.failure }
    }
}
