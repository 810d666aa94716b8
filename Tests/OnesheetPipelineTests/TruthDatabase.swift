import OnesheetCore
import OnesheetTesting
import Synchronization

/// One of three invented databases, which a seed makes: it lacks some titles and images, contradicts the others, states wrong sizes and
/// languages, and answers in another order each time.
final class TruthDatabase: ContentSource {
    struct Film {
        let original: LanguageTag?
        let images: [PosterCandidate]
    }

    static let languages = ["ko", "ja", "en", "fr", "de", "es", "it", "zh", "pt", "ru"]

    let name: String
    let originPolicy = OriginPolicy()
    let capabilities: SourceCapabilities
    private let seed: UInt64
    private let state = Mutex(State())

    private struct State {
        var isDown = false
        var service: (@Sendable (_ path: String) async throws(HTTPTransportError) -> HTTPAnswer)?
        var calls: [String: Int] = [:]
    }

    init(_ name: String, seed: UInt64, lists: Bool) {
        self.name = name
        self.seed = seed
        capabilities = SourceCapabilities(hasLists: lists, searches: lists, ids: [DatabaseIDs("tmdb")])
    }

    /// The calls since this was last asked, by question.
    func takeCalls() -> [String: Int] {
        state.withLock { state in
            defer { state.calls = [:] }
            return state.calls
        }
    }

    func isDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

    /// Lets each question ask a service, which decides whether there is an answer.
    func asks(_ url: String, through transport: any HTTPTransport, under policy: OriginPolicy) {
        state.withLock {
            $0.service = { path async throws(HTTPTransportError) in
                try await transport.get(HTTPRequest(url: url + path), under: policy)
            }
        }
    }

    /// What it knows of a title; `nil` if it does not have it.
    func film(_ number: UInt64) -> Film? {
        var random = SplitMix(seed: number &* 0x9E37_79B9 &+ seed)
        guard Int.random(in: 0..<5, using: &random) > 0 else { return nil }
        let original = Self.languages.randomElement(using: &random).flatMap { LanguageTag($0) }
        let images = (0..<Int.random(in: 0...6, using: &random)).map { index in
            var image = PosterCandidate(.http(url: "https://\(name).example/\(number)/\(index * 7919 % 11)"))
            image.kind = Int.random(in: 0..<5, using: &random) == 0 ? .logo : .poster
            // A known language, no language, or an unreadable one.
            image.language = (Self.languages + [nil, nil, "und"]).randomElement(using: &random).flatMap { $0 }.flatMap {
                LanguageTag($0)
            }
            image.votes = [5, 5, 5, 5.3, 8].randomElement(using: &random)
            image.voteCount = [3, 3, 20].randomElement(using: &random)
            image.width = [nil, 1, 500, 780, 2000, 999_999].randomElement(using: &random).flatMap { $0 }
            return image
        }
        return Film(original: original, images: images)
    }

    private func ask(_ question: String, _ id: String) async throws(SourceError) -> Film {
        let (isDown, service) = state.withLock { state in
            state.calls[question, default: 0] += 1
            return (state.isDown, state.service)
        }
        if isDown { throw .unavailable(reason: "down") }
        if let service {
            let answer: HTTPAnswer
            do throws(HTTPTransportError) { answer = try await service("/\(question)/\(id)") } catch {
                throw .unavailable(reason: "\(error)")
            }
            guard answer.isSuccess else { throw .unavailable(reason: "status \(answer.status)") }
        }
        guard let film = UInt64(id).flatMap(film) else { throw .notFound(id: id) }
        return film
    }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("a list") }

    func title(_ id: String) async throws(SourceError) -> Title {
        let film = try await ask("title", id)
        return Title(
            id: id, name: "Film \(id)", originalName: "Film", originalLanguage: film.original, overview: "Plot",
            releaseDate: CalendarDay("20260101"), metadata: ["genres": .array([])])
    }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        var random = SystemRandomNumberGenerator()
        return try await ask("candidates", id).images.shuffled(using: &random)
    }
}
