internal import Foundation
public import OnesheetCore

/// A source that is a program in any language: JSON-RPC 2.0, one message per line, on its standard input and output.
public struct ExecSource: SourcePlugin {
    public static let type = "exec"

    public let originPolicy: OriginPolicy
    private let supervisor: Supervisor

    /// - Throws: `ConfigurationError` where there is no such program.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        guard let program = configuration.command.first else {
            throw ConfigurationError(path: "command", message: "is empty; it is a program and its arguments")
        }
        _ = try ProgramLauncher.find(program)
        originPolicy = OriginPolicy(networks: configuration.networks, headers: configuration.headers, rate: configuration.rate)
        let launcher = ProgramLauncher(
            command: configuration.command, environment: configuration.environment, maxLine: context.limits.originBytes,
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
        return try read(TitleAnswer.Page.self, try await supervisor.call("titles", params)).page
    }

    public func title(_ id: String) async throws(SourceError) -> Title {
        let title = try read(TitleAnswer.self, try await supervisor.call("title", ["id": .string(id)], title: id)).title
        guard title.id == id else { throw .malformedAnswer(reason: "asked for “\(id)”, the program answers “\(title.id)”") }
        return title
    }

    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let answer = try await supervisor.call("candidates", ["id": .string(id)], title: id)
        let found = try read(CandidateAnswer.List.self, answer).candidates
        for candidate in found where WebURL(candidate.url) == nil {
            throw .malformedAnswer(reason: "“\(candidate.url)” is not an http or https URL")
        }
        return found.map(\.candidate)
    }

    private func read<Value: Decodable>(_ type: Value.Type, _ answer: JSONValue) throws(SourceError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: JSONEncoder().encode(answer))
        } catch {
            throw .malformedAnswer(reason: "the program's answer has another shape: \(error)")
        }
    }
}
