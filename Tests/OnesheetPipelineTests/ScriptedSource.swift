import OnesheetCore
import Synchronization

/// A source whose answers a test provides, and which counts its calls.
final class ScriptedSource: ContentSource {
    struct Counts: Equatable {
        var titles = 0
        var title = 0
        var candidates = 0
        var ownIDs = 0
    }

    let originPolicy: OriginPolicy
    let capabilities = SourceCapabilities(lists: ["top"])
    private let counted = Mutex(Counts())
    private let failure = Mutex<SourceError?>(nil)
    private let locations: @Sendable (String) throws(SourceError) -> [PosterCandidate]

    /// - Parameter candidates: the possible places of an original.
    init(
        freshness: FreshnessSettings = FreshnessSettings(),
        _ candidates: @escaping @Sendable (String) throws(SourceError) -> [PosterCandidate] = { _ in [] }
    ) {
        originPolicy = OriginPolicy(networks: [.loopback], freshness: freshness)
        locations = candidates
    }

    /// Makes every call throw this error.
    func fail(_ error: SourceError?) { failure.withLock { $0 = error } }

    private func check() throws(SourceError) {
        if let error = failure.withLock({ $0 }) { throw error }
    }

    var counts: Counts { counted.withLock { $0 } }

    /// Ids that begin with `tt` are of another database, in which `tt0` is of no title.
    func isForeign(_ id: String) -> Bool { id.hasPrefix("tt") }

    func ownID(of id: String) async throws(SourceError) -> String {
        counted.withLock { $0.ownIDs += 1 }
        try check()
        guard id != "tt0" else { throw .notFound(id: id) }
        return String(id.dropFirst(2))
    }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        counted.withLock { $0.titles += 1 }
        try check()
        return TitlePage(titles: [Title(id: "1", name: "One")])
    }

    func title(_ id: String) async throws(SourceError) -> Title {
        counted.withLock { $0.title += 1 }
        try check()
        guard id != "nobody" else { throw .notFound(id: id) }
        return Title(id: id, name: "One")
    }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        counted.withLock { $0.candidates += 1 }
        try check()
        return try locations(id)
    }
}
