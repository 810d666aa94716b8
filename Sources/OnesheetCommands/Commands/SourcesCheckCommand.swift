import ArgumentParser
import OnesheetCore
import OnesheetServer

struct SourcesCheckCommand: PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a source, and print each failure with a remedy.",
        discussion: """
            Requests the newest list, its first title, the title's poster candidates and its poster directly from the source, without
            cached responses. Then checks the conformance rules of sources against the real service and against a network that fails
            on purpose: about thirty calls in total.
            """)

    @Argument(help: "The source's name in the configuration.") var name: String
    @Option(name: .long, help: "The title to check if the source has no list: an id, or a search phrase.")
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
