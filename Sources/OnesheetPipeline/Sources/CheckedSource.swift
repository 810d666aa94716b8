import OnesheetCore

/// A source whose answers are held against what a source may answer, so that nothing behind it has to mind what a stranger's service,
/// program or plugin says.
struct CheckedSource: ContentSource {
    let source: any ContentSource

    var originPolicy: OriginPolicy { source.originPolicy }
    var isVersioned: Bool { source.isVersioned }
    var asksService: Bool { source.asksService }

    func canonicalID(_ id: String) -> String { source.canonicalID(id) }

    func changes() async throws(SourceError) -> TitleChanges? {
        try await checked { () async throws(SourceError) in try await source.changes().map { AnswerCheck.checked($0) } }
    }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        guard (1...AnswerCheck.lastPage).contains(query.page) else {
            throw .malformedAnswer(reason: "there is no page \(query.page); pages are 1 to \(AnswerCheck.lastPage)")
        }
        return try await checked { () async throws(SourceError) in try AnswerCheck.checked(try await source.titles(query)) }
    }

    func title(_ id: String) async throws(SourceError) -> Title {
        try await checked { () async throws(SourceError) in try AnswerCheck.checked(try await source.title(id)) }
    }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        try await checked { () async throws(SourceError) in try AnswerCheck.checked(try await source.candidates(for: id)) }
    }

    private func checked<Answer>(_ ask: () async throws(SourceError) -> Answer) async throws(SourceError) -> Answer {
        do throws(SourceError) { return try await ask() } catch { throw AnswerCheck.checked(error) }
    }
}
