internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore

/// Sends requests to the service of a manifest.
struct RestClient: Sendable {
    let context: PluginContext
    let manifest: Manifest
    /// The variables of the configuration, over those of the manifest.
    let variables: [String: String]
    let baseURL: String
    let policy: OriginPolicy
    let quota: DailyQuota

    init(context: PluginContext, manifest: Manifest, variables: [String: String], baseURL: String, policy: OriginPolicy) {
        self.context = context
        self.manifest = manifest
        self.variables = (manifest.defaults ?? [:]).merging(variables) { _, given in given }
        self.baseURL = baseURL
        self.policy = policy
        let zone = manifest.quota?.timeZone?.seconds ?? 0
        quota = DailyQuota(
            manifest.quota?.settings, name: "rest", countKey: "calls", secondsFromGMT: zone, context: context)
    }

    /// The document of the response.
    /// - Parameters:
    ///   - values: variables of this request.
    ///   - id: the id of the requested title, if there is one.
    func get(
        _ template: URITemplate, _ values: [String: String], headers: [String: Phrase]? = nil, id: String?
    ) async throws(SourceError) -> JSONValue {
        try await quota.spend()
        let values = variables.merging(values) { _, request in request }
        let target = template.expand(values)
        let phrases = headers ?? manifest.headers ?? [:]
        let request = HTTPRequest(
            url: target.hasPrefix("/") ? baseURL + target : target, headers: phrases.mapValues { $0.filled(values) })
        let answer = try await context.get(request, under: policy)
        return try await document(of: answer, id: id)
    }

    private func document(of answer: HTTPAnswer, id: String?) async throws(SourceError) -> JSONValue {
        var document: JSONValue?
        var problem = "is empty"
        do {
            document = try JSONValue(reading: answer.body)
        } catch {
            problem = "is not JSON"
        }
        if let rule = manifest.faults?.first(where: { $0.matches(status: answer.status, document) }) {
            throw await error(for: rule, document, id)
        }
        guard answer.isSuccess else { throw Self.error(for: answer.status, id) }
        guard let document else { throw .malformedAnswer(reason: "the service's answer \(problem)") }
        return document
    }

    private func error(for rule: FaultRule, _ document: JSONValue?, _ id: String?) async -> SourceError {
        let message = document.flatMap { rule.message?.value(in: $0)?.plainText } ?? "the service says no more"
        return switch rule.reason {
        case .notFound: id.map(SourceError.notFound) ?? .malformedAnswer(reason: "it says that there is no list", details: message)
        case .unauthorized: .unauthorized(message: message)
        case .quotaExhausted: await quota.exhaust()
        // With `Retry-After`, `PluginContext.get` has thrown the time of the service.
        case .rateLimited: .rateLimited(retryAfter: 1)
        // What a service says of itself may have a key.
        case .unavailable: .failed(reason: "it reports a failure", details: message)
        case .malformedAnswer: .malformedAnswer(reason: "it reports a failure", details: message)
        }
    }

    private static func error(for status: Int, _ id: String?) -> SourceError {
        switch status {
        case 401, 403: .unauthorized(message: "HTTP status \(status)")
        case 404: id.map(SourceError.notFound) ?? .malformedAnswer(reason: "the service returned HTTP status 404")
        case 429: .quotaExhausted(until: nil)
        case 500...: .unavailable(reason: "the service returned HTTP status \(status)")
        default: .malformedAnswer(reason: "the service returned HTTP status \(status)")
        }
    }
}
