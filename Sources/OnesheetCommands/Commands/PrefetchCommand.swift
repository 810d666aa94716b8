import ArgumentParser
import OnesheetAddress
import OnesheetCore
import OnesheetPipeline
import OnesheetServer
import UnixSignals

struct PrefetchCommand: PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch", abstract: "Render a source's thumbnails in advance.",
        discussion: """
            Renders every size in every format for the titles of the newest list, of a list by its name, of the lists
            of given days, or with given ids.
            Skips variants that are already cached, so run an interrupted prefetch again to continue it. A size is that of a poster,
            such as w342, or of another image, such as w780.backdrop.

              onesheet prefetch sample --sizes w185,w342
              onesheet prefetch boxoffice --from 2026-11-01 --to 2026-11-20 --formats jpg,png
              onesheet prefetch sample --id 1 --id 2 --json
              onesheet prefetch tmdb --list popular --sizes w342,w780.backdrop
              onesheet prefetch tmdb --list popular --answers language=de-DE --answers ""
            """)

    @OptionGroup var lists: ListOptions

    @Option(name: .long, help: "A title's id. May be repeated.")
    var id: [String] = []

    @Option(name: .long, help: "The list of this name, if the source has several: popular, trending or collection-10 of TMDB.")
    var list: String?

    @Option(name: .long, help: "Search for titles with these words, if the source supports search.")
    var query: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Get the answers about each title and the list to clients that ask with this query, too, and make the images that they name. May be repeated.",
            valueName: "query"))
    var answers: [String] = []

    @Flag(name: .long, help: "Render nothing, and print the cost in calls and bytes. Lists are still requested.")
    var dryRun = false

    @Flag(
        name: .long,
        help: """
            Print a JSON summary on standard output instead of progress. With --id or --list, it says of each title: new, known or failed.
            """
    )
    var json = false

    @OptionGroup var options: ConfigurationOptions

    func validate() throws { _ = try lists.order(ids: id, list: list, query: query) }

    func run(with plugins: PluginList) async throws {
        var order = try lists.order(ids: id, list: list, query: query)
        order.answers = answers.isEmpty ? nil : answers
        let outcome = try await options.withContext(plugins) { [order] context -> (PrefetchSummary, UnixSignal?)? in
            let prefetcher = context.prefetcher
            let variants = try order.variants(context.options)
            // A dry run removes nothing, and counts what changes have made outdated as being there.
            if !dryRun { try await context.dropOutdated(of: order.source) }
            let titles = try await prefetcher.titles(order.selection)
            if titles.count == 0 { lists.sayEmpty(list: list, query: query) }
            if dryRun {
                try show(await prefetcher.estimate(titles, variants), of: titles.count)
                return nil
            }
            let progress = ProgressLine(isQuiet: json, isTerminal: StandardStreams.errorIsTerminal)
            let (summary, signal) = try await Interruption.cancelling {
                await prefetcher.run(titles, variants) { progress.show($0) }
            }
            progress.finish(summary, of: titles.count, hasAnswers: !answers.isEmpty)
            return (summary, signal)
        }
        guard let (summary, signal) = outcome else { return }
        if json { try StandardStreams.output(document: summary) }
        if let signal { throw ExitCode(signal) }
        if !summary.failures.isEmpty || summary.done < summary.total { throw ExitCode.failure }
    }

    private func show(_ estimate: PrefetchEstimate, of titles: Int) throws {
        if json {
            try StandardStreams.output(document: estimate)
        } else {
            StandardStreams.output(
                lines: """
                    \(ProgressLine.count(titles, estimate.total)): \(estimate.there) cached, \(estimate.missing) to render
                    \(estimate.titlesToAsk) titles to request from the source, at least \(estimate.fetches) pictures to fetch\
                    \(estimate.answers > 0 ? ", \(estimate.answers) answers to ask for" : "")\
                    \(estimate.bytes.map { ", about \($0 / 1024) KiB to store" } ?? "")
                    """)
        }
    }
}
