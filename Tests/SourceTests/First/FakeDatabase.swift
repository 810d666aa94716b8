import OnesheetCore
import Synchronization

/// A database with the titles and candidates that a test gives it, which counts its calls.
final class FakeDatabase: ContentSource {
    let originPolicy: OriginPolicy
    let capabilities: SourceCapabilities
    private let titles: [Title]
    private let images: [String: [PosterCandidate]]
    private let genres: [String: String]
    private let state = Mutex<(calls: [String], failure: SourceError?)>(([], nil))

    init(
        _ titles: [Title] = [], images: [String: [PosterCandidate]] = [:], ids: [DatabaseIDs] = [], lists: Bool = false,
        searches: Bool = false, host: String = "images.example", genres: [String: String] = [:]
    ) {
        self.titles = titles
        self.images = images
        self.genres = genres
        capabilities = SourceCapabilities(hasLists: lists, searches: searches, ids: ids, namesGenres: !genres.isEmpty)
        originPolicy = OriginPolicy(allow: URLPrefix("https://\(host)/").map { [$0] } ?? [], headers: ["X-Host": host])
    }

    /// What was asked, in order.
    var calls: [String] { state.withLock { $0.calls } }

    /// Makes every call throw this error.
    func fail(_ error: SourceError?) { state.withLock { $0.failure = error } }

    private func note(_ call: String) throws(SourceError) {
        let failure = state.withLock { state in
            state.calls.append(call)
            return state.failure
        }
        if let failure { throw failure }
    }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        try note(query.phrase.map { "search \($0)" } ?? "list")
        guard let phrase = query.phrase else { return TitlePage(titles: titles) }
        return TitlePage(titles: titles.filter { $0.name.contains(phrase) || $0.originalName?.contains(phrase) ?? false })
    }

    func title(_ id: String) async throws(SourceError) -> Title {
        try note("title \(id)")
        guard let title = titles.first(where: { $0.id == id }) else { throw .notFound(id: id) }
        return title
    }

    func genres(in language: LanguageTag?) async throws(SourceError) -> [String: String] {
        try note("genres \(language?.description ?? "")")
        return genres
    }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        try note("images \(id)")
        guard let images = images[id] else { throw .notFound(id: id) }
        return images
    }
}

extension PosterCandidate {
    /// An image at `images.example`.
    static func image(
        _ name: String, _ language: String? = nil, kind: ImageKind = .poster, votes: Double? = nil, trust: Double? = nil
    ) -> PosterCandidate {
        var candidate = PosterCandidate(.http(url: "https://images.example/\(name)"), trust: trust)
        candidate.kind = kind
        candidate.language = language.flatMap { LanguageTag($0) }
        (candidate.votes, candidate.voteCount) = (votes, votes.map { _ in 9 })
        return candidate
    }
}
