import ArgumentParser
import NIOCore
import OnesheetCore
import OnesheetServer

struct BundleCommand: PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "bundle", abstract: "Write titles and their posters as one archive, for an app's first launch.",
        discussion: """
            Writes a tar archive: posters/{size}/{number}.{ext}, and index.json with the lists by day, each title, each poster's path,
            size and bytes, and a placeholder (ThumbHash, dominant colour, width and height). Equal responses of a source give equal
            bytes. If Ctrl-C ends it, no file is left.

              onesheet bundle boxoffice --from 2026-11-14 --to 2026-11-20 --sizes w185,w342 -o week.tar
            """)

    @OptionGroup var lists: ListOptions

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The archive to write; - is standard output.", valueName: "file"),
        completion: .file())
    var output: String

    @Flag(name: .long, help: "Write to standard output although it is a terminal.")
    var force = false

    @OptionGroup var options: ConfigurationOptions

    func validate() throws {
        guard !(try lists.order().formats.contains("auto")) else {
            throw ValidationError("“auto” is for clients of a server; the files of a bundle have extensions, such as jpg")
        }
    }

    func run(with plugins: PluginList) async throws {
        if output == "-", !force { try StandardStreams.requireNoTerminal() }
        let order = try lists.order()
        let (outcome, signal) = try await options.withContext(plugins) { context in
            // An unknown size is an error before anything changes.
            let bundle = try PosterBundle(
                order: order, options: context.options, prefetcher: context.prefetcher, pipeline: context.pipeline)
            try await context.dropOutdated(of: order.source)
            let line = ProgressLine(isQuiet: !StandardStreams.errorIsTerminal, isTerminal: true)
            return try await Interruption.cancelling {
                defer { line.end() }
                if output == "-" {
                    return try await bundle.write(progress: line.show) { StandardStreams.output(Array($0.readableBytesView)) }
                }
                let file = try await OutputFile(output)
                let outcome = try await bundle.write(progress: line.show) { try file.write($0) }
                try file.finish()
                return outcome
            }
        }
        for line in ErrorText.of(outcome.missing) { StandardStreams.error("no poster:", as: .warning, " \(line)") }
        StandardStreams.error("\(outcome.posters) posters")
        if let signal { throw ExitCode(signal) }
        if !outcome.missing.isEmpty { throw ExitCode.failure }
    }
}
