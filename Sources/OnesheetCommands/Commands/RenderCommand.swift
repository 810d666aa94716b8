import ArgumentParser
import Foundation
import NIOCore
import NIOFoundationEssentialsCompat
import OnesheetAddress
import OnesheetCore
import OnesheetImaging
import OnesheetServer

struct RenderCommand: PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "render", abstract: "Render one file, without a server.",
        discussion: """
            INPUT and OUTPUT are files, or - for standard input and output. The extension of OUTPUT selects the format, unless
            the options do (f:png).

              onesheet render in.jpg -o out.png --options rs:fit:342:0
              onesheet render - -o - --options rs:fill:300:450/g:no/q:75/f:jpg <in.png >out.jpg

            Options, separated by slashes:
            \(TransformOption.usage)
            """)

    @Argument(help: "The image to read; - is standard input.", completion: .file())
    var input: String

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The image to write; - is standard output.", valueName: "file"),
        completion: .file())
    var output: String

    @Flag(name: .long, help: "Write to standard output although it is a terminal.")
    var force = false

    @Option(name: .long, help: ArgumentHelp("Options such as rs:fit:342:0/q:80.", valueName: "options"))
    var options = ""

    @OptionGroup var configuration: ConfigurationOptions

    func run(with plugins: PluginList) async throws {
        if output == "-", !force { try StandardStreams.requireNoTerminal() }
        let configuration = try configuration.load()
        let limits = configuration.limits.limits
        let renderer = try configuration.rendering.renderer(
            try plugins.codecs(limits: limits, configuration.rendering.codecs), limits)
        let grammar = try ImageOptions(
            formats: renderer.formats, presets: configuration.presets, watermark: renderer.watermark?.digest,
            findsQuality: configuration.rendering.quality == .automatic)
        let parsed = try grammar.parse(options)
        guard !parsed.isRaw, parsed.transform.skips.isEmpty else {
            throw ValidationError("“raw” and “skp” can return the image as it is, which needs no command")
        }
        var transform = parsed.transform
        if transform.format == nil, output != "-", let dot = output.lastIndex(of: ".") {
            transform.format = try grammar.format(output[output.index(after: dot)...])
        }
        let wanted = transform
        let (_, signal) = try await Interruption.cancelling {
            let body = try await Interruption.abandoning {
                try renderer.render(try read(limit: limits.originBytes), as: wanted).body
            }
            if output == "-" { return StandardStreams.output(Array(body.readableBytesView)) }
            let file = try await OutputFile(output)
            try file.write(body)
            try file.finish()
        }
        if let signal { throw ExitCode(signal) }
    }

    private func read(limit: Int) throws -> ByteBuffer {
        guard input != "-" else {
            guard let bytes = StandardStreams.input(limit: limit) else {
                throw FileError("standard input holds more than \(limit) bytes")
            }
            return ByteBuffer(bytes: bytes)
        }
        do {
            // `Data(contentsOf:)` does not wait for a pipe.
            let file = try FileHandle(forReadingFrom: URL(filePath: input))
            var data = Data()
            while data.count <= limit, let part = try file.read(upToCount: limit + 1 - data.count), !part.isEmpty { data += part }
            guard data.count <= limit else { throw FileError("\(input) holds more than \(limit) bytes") }
            return ByteBuffer(data: data)
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError("cannot read \(input): \(ConfigurationFile.reason(error))")
        }
    }
}
