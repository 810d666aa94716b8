internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore

/// A document of the service, with the headers of its response.
struct RestAnswer: Sendable {
    var document: JSONValue
    /// Names in lower case.
    var headers: [String: String]
}

/// Sends requests to the service of a manifest.
struct RestClient: Sendable {
    let context: PluginContext
    let manifest: Manifest
    /// The variables of the configuration, over those of the manifest.
    let variables: [String: String]
    let baseURL: String
    let policy: OriginPolicy
    let quota: DailyQuota
    private let exchange = TokenExchange()

    init(context: PluginContext, manifest: Manifest, variables: [String: String], baseURL: String, policy: OriginPolicy) {
        self.context = context
        self.manifest = manifest
        var all = Self.defaults(of: manifest, wanted: context.languages).merging(variables) { _, given in given }
        let either = manifest.either ?? []
        if either.contains(where: { all[$0] != nil }) { for name in either { all[name] = all[name] ?? "" } }
        self.variables = all
        self.baseURL = baseURL
        self.policy = policy
        let zone = manifest.quota?.timeZone?.seconds ?? 0
        quota = DailyQuota(
            manifest.quota?.settings, name: "rest", countKey: "calls", secondsFromGMT: zone, context: context)
    }

    /// The defaults of the manifest. Texts are in the first wanted language, written as the default one: `ko` for `en`.
    private static func defaults(of manifest: Manifest, wanted: LanguageList?) -> [String: String] {
        var defaults = manifest.defaults ?? [:]
        for case .language(let tag) in wanted?.entries ?? [] {
            defaults[Manifest.language] = manifest.written(tag)
            break
        }
        return defaults
    }

    /// What facts are read with.
    /// - Parameter values: variables of this request.
    func facts(_ values: [String: String] = [:]) -> Facts {
        Facts(variables: variables.merging(values) { _, request in request }, nothing: manifest.nothing ?? [])
    }

    /// The answer to a request.
    ///
    /// If the service refuses a token, gets a new one and asks once more.
    /// - Parameters:
    ///   - values: variables of this request.
    ///   - id: the id of the requested title, if there is one.
    func ask(_ request: RestRequest, _ values: [String: String], id: String?) async throws(SourceError) -> RestAnswer {
        let headers = request.headers ?? manifest.headers ?? [:]
        return try await authorized(headers) { (token: [String: String]) async throws(SourceError) in
            try await send(request, headers, values.merging(token) { $1 }, id: id)
        }
    }

    /// The answer to a question of one of the service's clients, as the service has written it.
    func answer(to question: ServiceQuestion) async throws(SourceError) -> ServiceAnswer {
        let headers = manifest.headers ?? [:]
        return try await authorized(headers) { (token: [String: String]) async throws(SourceError) in
            try await quota.spend()
            let values = variables.merging(token) { $1 }
            var message = HTTPRequest(url: url(question.target, values), headers: headers.sent(values))
            message.headers["If-None-Match"] = question.known?.tag
            let answer = try await context.get(message, under: policy)
            if answer.isNotModified, var known = question.known {
                let document = try Self.document(ByteBuffer(string: known.document))
                known.fresh = question.freshness(of: document, at: context.clock.now)
                known.images = question.images(in: document)
                return known
            }
            // With these, the service refuses this question alone. After any other one, it may have an answer another time.
            let isRefused = [400, 404, 406, 422].contains(answer.status)
            let document =
                isRefused ? try Self.refusal(answer, of: question) : try await document(of: answer, id: nil)
            return ServiceAnswer(
                status: isRefused ? answer.status : 200, document: String(buffer: answer.body), tag: answer.headers["etag"],
                fresh: question.freshness(of: document, at: context.clock.now),
                images: isRefused ? nil : question.images(in: document))
        }
    }

    /// The document of a refusal. If it is a page for people, such as that of a proxy, only its status counts.
    private static func refusal(_ answer: HTTPAnswer, of question: ServiceQuestion) throws(SourceError) -> JSONValue {
        do throws(SourceError) { return try document(answer.body) } catch {
            throw answer.status == 404 ? .notFound(id: question.target) : error
        }
    }

    /// The address for a target, with the parameters of every request.
    private func url(_ target: String, _ values: [String: String]) -> String {
        guard target.hasPrefix("/") else { return target }
        let parameters = (manifest.query ?? [:]).sent(values).sorted { $0.key < $1.key }
            .map { "\($0.key)=\(PercentEncoding.encode($0.value))" }
        guard !parameters.isEmpty else { return baseURL + target }
        return baseURL + target + (target.contains("?") ? "&" : "?") + parameters.joined(separator: "&")
    }

    private static func document(_ body: ByteBuffer) throws(SourceError) -> JSONValue {
        do throws(JSONDamage) { return try JSONValue(reading: body) } catch {
            throw .malformedAnswer(reason: "the service's answer is not JSON")
        }
    }

    /// What `send` returns, with a token if `headers` need one. If the service refuses it, gets a new one and sends once more.
    private func authorized<Sent: Sendable>(
        _ headers: [String: Phrase], _ send: ([String: String]) async throws(SourceError) -> Sent
    ) async throws(SourceError) -> Sent {
        guard let manner = manifest.token, headers.names.contains("token") else { return try await send([:]) }
        let token = try await exchange.token(at: context.clock.now) { () async throws(SourceError) in try await newToken(manner) }
        do throws(SourceError) {
            return try await send(["token": token])
        } catch .unauthorized {
            let token = try await exchange.token(at: context.clock.now, refused: token) { () async throws(SourceError) in
                try await newToken(manner)
            }
            return try await send(["token": token])
        }
    }

    private func newToken(_ manner: TokenRequest) async throws(SourceError) -> TokenExchange.Token {
        let headers = manner.request.headers ?? manifest.headers?.filter { !$0.value.names.contains("token") } ?? [:]
        let answer = try await send(manner.request, headers, [:], id: nil, isSecret: true)
        guard let text = manner.at.value(in: answer.document)?.plainText, TokenExchange.isToken(text) else {
            throw .malformedAnswer(reason: "there is no token at “\(manner.at.text)” in the service's answer")
        }
        let seconds = manner.expires?.value(in: answer.document)?.plainText.flatMap { Double($0) } ?? manner.lasts?.seconds
        return TokenExchange.Token(text: text, until: seconds.map { context.clock.now.addingTimeInterval($0) })
    }

    /// - Parameter isSecret: whether the answer has a secret.
    private func send(
        _ request: RestRequest, _ headers: [String: Phrase], _ values: [String: String], id: String?, isSecret: Bool = false
    ) async throws(SourceError) -> RestAnswer {
        try await quota.spend()
        let values = variables.merging(values) { _, request in request }
        let target = request.url.expand(values)
        var message = HTTPRequest(
            url: url(target, values), headers: headers.sent(values), hasSecretAnswer: isSecret)
        if let body = request.body {
            message.body = try Self.written(body, values, id)
            if !message.headers.keys.contains(where: { $0.lowercased() == "content-type" }) {
                message.headers["Content-Type"] = "application/json"
            }
        }
        let answer = try await context.get(message, under: policy)
        return RestAnswer(document: try await document(of: answer, id: id), headers: answer.headers)
    }

    private static func written(
        _ body: BodyTemplate, _ values: [String: String], _ id: String?
    ) throws(SourceError) -> ByteBuffer {
        do {
            return ByteBuffer(bytes: try JSONEncoder().encode(try body.filled(values) ?? .object([:])))
        } catch let problem as BodyTemplate.ValueProblem {
            // A service that counts its titles has none with such an id.
            throw id.map(SourceError.notFound) ?? .unsupported(problem.reason)
        } catch {
            throw .unsupported("a request that is not JSON")
        }
    }

    private func document(of answer: HTTPAnswer, id: String?) async throws(SourceError) -> JSONValue {
        var document: JSONValue?
        var problem = "is empty"
        do {
            document = try JSONValue(tolerant: answer.body)
        } catch {
            problem = "is not JSON"
        }
        if let rule = manifest.faults?.first(where: { $0.matches(status: answer.status, document) }) {
            throw await error(for: rule, document, id)
        }
        guard answer.isSuccess else { throw error(for: answer, id) }
        guard let document else { throw .malformedAnswer(reason: "the service's answer \(problem)") }
        return document
    }

    private func error(for rule: FaultRule, _ document: JSONValue?, _ id: String?) async -> SourceError {
        let message = document.flatMap { rule.message?.value(in: $0)?.plainText } ?? "the service says no more"
        return switch rule.reason {
        // A document that says so is the answer to a list or a search without titles.
        case .notFound:
            id.map(SourceError.notFound)
                ?? (rule.condition == nil
                    ? .malformedAnswer(reason: "it says that there is no list", details: message) : .notFound(id: ""))
        case .unauthorized: .unauthorized(message: message)
        case .quotaExhausted: await quota.exhaust()
        // With `Retry-After`, `PluginContext.get` has thrown the time of the service.
        case .rateLimited: .rateLimited(retryAfter: 1)
        // What a service says of itself may have a key.
        case .unavailable: .failed(reason: "it reports a failure", details: message)
        case .malformedAnswer: .malformedAnswer(reason: "it reports a failure", details: message)
        }
    }

    private func error(for answer: HTTPAnswer, _ id: String?) -> SourceError {
        let status = answer.status
        return switch status {
        case 401, 403: .unauthorized(message: "HTTP status \(status)")
        case 404: id.map(SourceError.notFound) ?? .malformedAnswer(reason: "the service returned HTTP status 404")
        case 429: .quotaExhausted(until: nil)
        case 500...:
            .unavailable(reason: "the service returned HTTP status \(status)", retryAfter: answer.pause(at: context.clock.now))
        default: .malformedAnswer(reason: "the service returned HTTP status \(status)")
        }
    }
}

extension JSONValue {
    /// Parses a document. Some services write line breaks and other control characters into texts, which JSON forbids (RFC 8259 §7).
    /// They count as spaces.
    fileprivate init(tolerant body: ByteBuffer) throws(JSONDamage) {
        do throws(JSONDamage) {
            self = try JSONValue(reading: body)
        } catch {
            let bytes = body.readableBytesView
            guard bytes.contains(where: { $0 < 0x20 }) else { throw error }
            self = try JSONValue(reading: bytes.map { $0 < 0x20 ? 0x20 : $0 })
        }
    }
}
