public import OnesheetCore

/// A source in any language: a program that speaks JSON-RPC 2.0, one message per line, on standard input and output.
public struct ExecSource: SourcePlugin {
    public static let type = "exec"

    public let originPolicy: OriginPolicy
    private let supervisor: Supervisor

    /// - Throws: `ConfigurationError` if there is no such program.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        guard let program = configuration.command.first else {
            throw ConfigurationError(path: "command", message: "is empty; it is a program and its arguments")
        }
        _ = try ProgramLauncher.find(program)
        originPolicy = OriginPolicy(networks: configuration.networks, headers: configuration.headers, rate: configuration.rate)
        let launcher = ProgramLauncher(
            command: configuration.command, environment: configuration.environment,
            maxLine: min(configuration.answerBytes.bytes, context.limits.originBytes),
            logger: context.logger)
        supervisor = Supervisor(launcher: launcher, context: context, timeout: configuration.timeout.duration)
    }

    init(launcher: any ChildLauncher, timeout: Duration = .seconds(10), context: PluginContext) {
        originPolicy = OriginPolicy()
        supervisor = Supervisor(launcher: launcher, context: context, timeout: timeout)
    }

    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        var params: [String: JSONValue] = ["period": .string(query.period.rawValue), "page": .integer(query.page)]
        params["date"] = query.date.map { .string($0.description) }
        params["phrase"] = query.phrase.map(JSONValue.string)
        return try TitlePage(answer: try await supervisor.call("titles", params))
    }

    public func title(_ id: String) async throws(SourceError) -> Title {
        let title = try Title(answer: try await supervisor.call("title", ["id": .string(id)], title: id))
        guard title.id.isExactly(id) else {
            throw .malformedAnswer(reason: "asked for “\(id)”, the program answered “\(title.id)”")
        }
        return title
    }

    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let answer = try await supervisor.call("candidates", ["id": .string(id)], title: id)
        let found = try PosterCandidate.list(answer: answer)
        for candidate in found where WebURL(candidate.location.name) == nil {
            throw .malformedAnswer(reason: "“\(candidate.location.name)” is not an http or https URL")
        }
        return found
    }
}
