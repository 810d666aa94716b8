import NIOCore
import OnesheetCore
import OnesheetTesting

/// A source with one title, `1`, and one mistake.
struct FaultySource: SourcePlugin {
    enum Mistake: CaseIterable {
        case otherID, noName, changes, doubles, answersUnknown, spoilsRequests, repeatsPages, goesBack, swallowsAnswers,
            swallowsTimeOuts, hidesQuota, asksAgain, saysInfinity, misspellsVotes
    }

    static let type = "faulty"
    static let sampleConfiguration = "type: faulty"

    let originPolicy = OriginPolicy()
    var mistake: Mistake?
    private let transport: any HTTPTransport
    private let calls: Calls
    private let wall = Calls()

    init(_ configuration: NoConfiguration, context: PluginContext) { self.init(nil, context.transport, calls: Calls()) }

    init(_ mistake: Mistake?, _ transport: any HTTPTransport, calls: Calls) {
        self.mistake = mistake
        self.transport = transport
        self.calls = calls
    }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        try await ask()
        if mistake == .repeatsPages {
            return TitlePage(titles: [try await title("1")], next: query.page < 3 ? query.page + 1 : nil)
        }
        if mistake == .goesBack { return TitlePage(titles: [try await title("1")], next: query.page) }
        return TitlePage(titles: [try await title("1")], total: 1)
    }

    func title(_ id: String) async throws(SourceError) -> Title {
        if mistake == .spoilsRequests, id.contains(" ") { throw .malformedAnswer(reason: "a space") }
        guard id == "1" || (mistake == .answersUnknown && id == "2") else { throw .notFound(id: id) }
        try await ask()
        var title = Title(id: mistake == .otherID ? "01" : id, name: mistake == .noName ? "" : "One")
        if mistake == .saysInfinity { title.metadata["n"] = .number(.infinity) }
        return title
    }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        _ = try await title(id)
        let place = mistake == .changes ? "http://a.example/\(calls.next())" : "http://a.example/1"
        var candidate = PosterCandidate(.http(url: place))
        if mistake == .misspellsVotes { candidate.votes = 88 }
        return Array(repeating: candidate, count: mistake == .doubles ? 2 : 1)
    }

    private func ask() async throws(SourceError) {
        // A barrier that lets the first call through.
        if mistake != .asksAgain, wall.value > 0 { throw .quotaExhausted(until: 1) }
        let answer: HTTPAnswer
        do throws(HTTPTransportError) {
            answer = try await transport.get(HTTPRequest(url: "http://service.example/"), under: originPolicy)
        } catch .timedOut(let url) {
            if mistake == .swallowsTimeOuts { return }
            throw SourceError(.timedOut(url: url))
        } catch {
            throw SourceError(error)
        }
        if String(buffer: answer.body) == "no more", mistake != .hidesQuota {
            _ = wall.next()
            throw .quotaExhausted(until: 1)
        }
        guard mistake == .swallowsAnswers || String(buffer: answer.body) == "ok" else { throw .malformedAnswer(reason: "not ok") }
    }
}
