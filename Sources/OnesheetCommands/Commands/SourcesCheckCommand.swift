import ArgumentParser
import NIOCore
import OnesheetAddress
import OnesheetCore
import OnesheetPipeline
import OnesheetServer
import Synchronization

struct SourcesCheckCommand: PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a source, and print each failure with a remedy.",
        discussion: """
            Requests the newest list, its first title, the title's poster candidates, its poster and a search for its name directly from
            the source, without anything cached. A failure names the last request and its status. Then checks the conformance rules of
            sources against the real service and against a network that fails on purpose: about thirty calls in total.
            """)

    @Argument(help: "The source's name in the configuration.") var name: String
    @Option(name: .long, help: "The title to check if the source has no list: an id, or a search phrase.")
    var id: String?
    @Flag(name: .long, help: "Print JSON.") var json = false
    @OptionGroup var options: ConfigurationOptions

    func run(with plugins: PluginList) async throws {
        let report = try await options.withContext(plugins) {
            await $0.dropOutdatedAnswers(isServer: false)
            return try await check(in: $0)
        }
        if json {
            try StandardStreams.output(document: report)
        } else {
            for step in report.steps { StandardStreams.output("\(step.passed ? "✓" : "✗") \(step.what): \(step.outcome)") }
            for finding in report.rules { for line in Self.lines(of: finding) { StandardStreams.output(line) } }
        }
        if !report.passed { throw ExitCode.failure }
    }

    /// The lines of a finding. A problem may have words of the source, which must not forge another finding.
    private static func lines(of finding: SourceConformance.Finding) -> [String] {
        guard finding.holds == false else { return [finding.description] }
        return ["✗ \(finding.rule): \(finding.problem ?? "")", "    → \(finding.advice ?? "")"]
    }

    /// - Throws: `Failure.unknownSource` if no source has this name.
    private func check(in context: ServerContext) async throws -> SourceCheck.Report {
        guard let configuration = context.configuration.sources[name] else {
            throw Failure.unknownSource(name, known: context.configuration.sourceNames)
        }
        let requests = RequestTrail(context.assembly.transport)
        var assembly = context.assembly
        assembly.transport = requests
        let source = try assembly.source(configuration, named: name)
        let check = SourceCheck(
            name: name, source: source, requests: requests, configuration: configuration, assembly: context.assembly,
            pipeline: context.uncached(over: requests, with: source, named: name), id: id)
        let report = await check.run()
        await check.source.shutdown()
        return report
    }
}

/// Checks a configured source: first the server's own calls, each based on the one before, then the conformance rules.
private struct SourceCheck: Sendable {
    struct Step: Encodable, Sendable {
        let what: String
        let passed: Bool
        let outcome: String
        /// Whether the source says that it has no such title.
        var saysNotFound = false

        private enum CodingKeys: CodingKey { case what, passed, outcome }
    }

    struct Report: Encodable, Sendable {
        let source: String
        var steps: [Step] = []
        var rules: [SourceConformance.Finding] = []

        var passed: Bool { steps.allSatisfy(\.passed) && rules.allSatisfy { $0.holds != false } }
    }

    /// The number of concurrent calls: enough to reveal races, too few to exhaust a quota.
    private static let callsAtOnce = 4
    /// An id that no service uses.
    private static let unknownID = "onesheet-asks-for-nothing"

    let name: String
    let source: any ContentSource
    /// The requests of `source`.
    let requests: RequestTrail
    /// The source's configuration.
    let configuration: NestedSource
    let assembly: PluginAssembly
    let pipeline: Pipeline
    /// The title to request. If `nil`, the first of the newest list.
    let id: String?

    func run() async -> Report {
        var report = Report(source: name)
        var id = id
        var hasList = false
        do throws(SourceError) {
            let page = try await source.titles(TitleQuery())
            hasList = true
            id = id ?? page.titles.first?.id
            report.steps.append(
                Step(
                    what: "newest list", passed: !page.titles.isEmpty,
                    outcome: "\(page.titles.count) titles" + (page.titles.isEmpty ? requests.last : "")))
        } catch let error where error.isUnsupported {
            report.steps.append(Step(what: "newest list", passed: true, outcome: "\(error)"))
        } catch {
            report.steps.append(Step(what: "newest list", passed: false, outcome: text(of: error)))
        }
        guard let id else {
            report.steps.append(
                Step(what: "a title", passed: false, outcome: "the list has no title; name one with --id"))
            return report
        }
        if let url = forbiddenURL(id) {
            report.steps.append(
                Step(
                    what: "title \(id)", passed: false,
                    outcome: "source \(name) does not allow \(shown(url)), so nothing was requested; add its prefix to “allow”"))
            return report
        }
        let steps = await steps(TitleReference(source: name, id: id))
        report.steps += steps
        // The rules are about a title that the source has. About another one, each would name a fault that the source does not have.
        guard self.id == nil || steps.first?.saysNotFound != true else {
            report.steps.append(
                Step(what: "rules", passed: false, outcome: "not tried without a title of the source; name one with --id"))
            return report
        }
        if source.capabilities.searches { report.steps.append(await searchStep(for: id)) }
        report.rules = await rules(knownID: id, list: hasList ? TitleQuery() : nil)
        return report
    }

    /// The id as a URL, if the source has no titles but URLs and does not allow this one.
    private func forbiddenURL(_ id: String) -> WebURL? {
        guard !source.asksService, let allow = source.originPolicy.allow, let url = WebURL(id) else { return nil }
        return allow.contains { $0.matches(url) } ? nil : url
    }

    /// The whole text of an error, with the last request to the service.
    private func text(of error: SourceError) -> String { "source \(name): \(error)\(requests.last)" }

    private func steps(_ title: TitleReference) async -> [Step] {
        [
            await step("title \(title.id)") { () async throws(SourceError) in (true, try await source.title(title.id).name) },
            await step("candidates of \(title.id)") { () async throws(SourceError) in
                let places = try await source.candidates(for: title.id)
                let count = "\(places.count) places" + Self.kinds(of: places)
                return (!places.isEmpty, places.isEmpty ? count + requests.last : count)
            },
            await posterStep(title),
        ]
    }

    private func posterStep(_ title: TitleReference) async -> Step {
        let what = "poster of \(title.id)"
        requests.forget()
        do {
            let answer = try await pipeline.image(for: ImageRequest(title, try SizeLadder.transform("w185")))
            let kept = answer.isStorable ? "" : "; not kept: its origin forbids it"
            return Step(what: what, passed: true, outcome: "\(answer.entry.mediaType), \(answer.size) bytes\(kept)")
        } catch {
            return Step(what: what, passed: false, outcome: "\(error)\(requests.last)")
        }
    }

    /// Searches for the name of the title.
    private func searchStep(for id: String) async -> Step {
        await step("search") { () async throws(SourceError) in
            let phrase = try await source.title(id).name
            do throws(SourceError) {
                let found = try await source.titles(TitleQuery(phrase: phrase)).titles
                return (!found.isEmpty, "\(found.count) titles for “\(phrase)”" + (found.isEmpty ? requests.last : ""))
            } catch let error where error.isUnsupported {
                return (true, "\(error)")
            }
        }
    }

    /// The kinds of the images and the languages of each; empty if the source says neither.
    private static func kinds(of candidates: [PosterCandidate]) -> String {
        guard candidates.contains(where: { $0.kind != .poster || $0.language != nil }) else { return "" }
        let kinds = ImageKind.allCases.compactMap { kind -> String? in
            let images = candidates.filter { $0.kind == kind }
            guard !images.isEmpty else { return nil }
            let languages = Set(images.map { $0.language?.description ?? "none" }).sorted()
            return "\(images.count) \(kind.rawValue) in \(languages.joined(separator: ", "))"
        }
        return ": " + kinds.joined(separator: "; ")
    }

    /// Runs the conformance rules. A source on the broken network gets empty state and cannot store wrong facts.
    private func rules(knownID: String, list: TitleQuery?) async -> [SourceConformance.Finding] {
        let (assembly, broken, name, configuration) = (assembly, assembly.withEmptyState, name, configuration)
        let made = Mutex<[any ContentSource]>([])
        let suite = SourceConformance(
            transport: assembly.transport, knownID: knownID, unknownID: list == nil ? nil : Self.unknownID, list: list,
            callsAtOnce: Self.callsAtOnce
        ) { transport in
            var assembly = transport is BrokenTransport ? broken : assembly
            assembly.transport = transport
            let source = try assembly.source(configuration, named: name)
            made.withLock { $0.append(source) }
            return source
        }
        let findings = await suite.run().findings
        await withTaskGroup(of: Void.self) { group in
            for source in made.withLock({ $0 }) { group.addTask { await source.shutdown() } }
        }
        return findings
    }

    private func step(_ what: String, _ work: () async throws(SourceError) -> (passed: Bool, outcome: String)) async -> Step {
        requests.forget()
        do throws(SourceError) {
            let (passed, outcome) = try await work()
            return Step(what: what, passed: passed, outcome: outcome)
        } catch {
            var step = Step(what: what, passed: false, outcome: text(of: error))
            if case .notFound = error { step.saysNotFound = true }
            return step
        }
    }
}

/// Notes the last request to a service or for an image, and how it ended.
private final class RequestTrail: HTTPTransport {
    private let transport: any HTTPTransport
    private let noted = Mutex("")

    init(_ transport: any HTTPTransport) { self.transport = transport }

    /// ` (GET https://films.example/v1/films: 404)`, without the query, which may have a key; empty if there was no request.
    var last: String { noted.withLock { $0 } }

    func forget() { noted.withLock { $0 = "" } }

    func get(_ request: OnesheetCore.HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        let what = "\(request.body == nil ? "GET" : "POST") \(shown(request.url))"
        do throws(HTTPTransportError) {
            let answer = try await transport.get(request, under: policy)
            noted.withLock { $0 = " (\(what): \(answer.status))" }
            return answer
        } catch {
            noted.withLock { $0 = " (\(what): \(error))" }
            throw error
        }
    }
}

extension PluginAssembly {
    /// The assembly with empty state for its plugins.
    fileprivate var withEmptyState: PluginAssembly {
        var assembly = self
        assembly.state = { _ in NoState() }
        return assembly
    }
}
