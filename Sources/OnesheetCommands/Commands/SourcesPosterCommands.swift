import ArgumentParser
import OnesheetCore
import OnesheetImaging
import OnesheetPipeline
import OnesheetServer

/// The arguments of every command about one title's poster.
struct PosterArguments: ParsableArguments {
    @Argument(help: "The source's name in the configuration.") var name: String
    @Argument(help: "The title's id.") var id: String
    @Option(name: .long, help: "Another image than the poster, such as backdrop or logo.ko.none.", transform: selector)
    var image: ImageSelector = .poster
    @Flag(name: .long, help: "Print JSON.") var json = false
    @OptionGroup var options: ConfigurationOptions

    /// Runs `body`, then prints the title's candidates.
    func run(_ plugins: PluginList, _ body: (Posters, ImageReference) async throws -> Void) async throws {
        let document = try await options.withContext(plugins) { context in
            await context.dropOutdatedAnswers(isServer: false)
            let title = try await context.catalog.own(TitleReference(source: name, id: id).canonical(in: context.sources))
            let reference = ImageReference(title, image)
            try await body(context.posters, reference)
            return PostersDocument(
                try await context.posters.choice(of: reference), try await context.posters.current(reference), isWhole: true)
        }
        if json {
            try StandardStreams.output(document: document)
        } else if document.candidates.isEmpty {
            StandardStreams.error("“\(id)” has no candidates of this kind at “\(name)”")
        } else {
            for candidate in document.candidates { StandardStreams.output(row: Self.row(candidate)) }
        }
    }

    @Sendable private static func selector(_ text: String) throws -> ImageSelector {
        do throws(RequestError) { return try ImageSelector(text) } catch { throw ValidationError(error.description) }
    }

    private static func row(_ candidate: PostersDocument.Candidate) -> [String] {
        [
            "\(candidate.candidate)", candidate.state ?? "", candidate.score.map { "\($0)" } ?? "", candidate.name,
            candidate.reasons.joined(separator: ", "),
        ]
    }
}

extension SourcesCommand {
    struct ShowPosters: PluggedCommand {
        static let configuration = CommandConfiguration(
            commandName: "posters", abstract: "Print a title's poster candidates, their states and scores.")
        @OptionGroup var poster: PosterArguments

        func run(with plugins: PluginList) async throws { try await poster.run(plugins) { _, _ in } }
    }

    struct Pin: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Pin a candidate as the poster. Overrides the automatic selection.",
            discussion: """
                Use the numbers that `onesheet sources posters` prints. A running server shows the new poster within a second.
                """)
        @OptionGroup var poster: PosterArguments
        @Argument(help: "The candidate's number, from 1.") var candidate: Int

        func run(with plugins: PluginList) async throws {
            try await poster.run(plugins) { _ = try await $0.pin(candidate, of: $1) }
        }
    }

    struct Reject: PluggedCommand {
        static let configuration = CommandConfiguration(abstract: "Exclude a candidate from selection.")
        @OptionGroup var poster: PosterArguments
        @Argument(help: "The candidate's number, from 1.") var candidate: Int

        func run(with plugins: PluginList) async throws {
            try await poster.run(plugins) { _ = try await $0.reject(candidate, of: $1) }
        }
    }

    struct Unpin: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget a title's pins, rejections and matches. The next request selects a poster again.")
        @OptionGroup var poster: PosterArguments

        func run(with plugins: PluginList) async throws { try await poster.run(plugins) { try await $0.forget($1) } }
    }

    struct Match: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "State what a title is at the members of its source (of type first).",
            discussion: """
                Overrides the search for it. “none” says that a member does not have it, and nothing that it is to be searched for again.

                  onesheet sources match films 20124079 tmdb=153397 kmdb=none
                  onesheet sources match films 20124079 tmdb=
                """)
        @OptionGroup var poster: PosterArguments
        @Argument(help: "MEMBER=ID.") var ids: [String]

        private func matches() throws -> [String: String?] {
            var matches: [String: String?] = [:]
            for text in ids {
                guard let (member, id) = text.cut(at: "="), !member.isEmpty else {
                    throw ValidationError("“\(text)” is not MEMBER=ID, such as tmdb=153397")
                }
                matches.updateValue(id.isEmpty ? nil : String(id), forKey: String(member))
            }
            return matches
        }

        func validate() throws { _ = try matches() }

        func run(with plugins: PluginList) async throws {
            let matches = try matches()
            try await poster.run(plugins) { posters, image in
                for member in try await posters.match(image.title, as: matches) {
                    StandardStreams.error("“\(member)” does not answer, so its id is stated without a check")
                }
            }
        }
    }

    struct Block: PluggedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Block an image by its perceptual hash, in every size and for every title.",
            discussion:
                "Without a hash, prints the blocked hashes. `onesheet sources posters NAME ID --json` prints an image's hash.")
        @Argument(help: "The image's hash: 16 hexadecimal digits.") var hash: String?
        @Flag(name: .long, help: "Unblock the hash.") var undo = false
        @OptionGroup var options: ConfigurationOptions

        func validate() throws {
            guard hash.map({ PerceptualHash($0) != nil }) ?? !undo else {
                throw ValidationError("an image's hash has 16 hexadecimal digits")
            }
        }

        func run(with plugins: PluginList) async throws {
            let blocked = try await options.withContext(plugins) { context in
                if let hash = hash.flatMap({ PerceptualHash($0) }) { try await context.posters.setBlocked(!undo, for: hash) }
                return try await context.posters.blocked()
            }
            for hash in blocked { StandardStreams.output(hash.description) }
        }
    }
}
