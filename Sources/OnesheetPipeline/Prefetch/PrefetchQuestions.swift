import OnesheetCore

/// What clients will ask the service of a source about the titles of a prefetch, and about their list.
struct PrefetchQuestions: Sendable {
    static let mostQueries = 8

    let source: String
    /// The queries of the questions about each title.
    let queries: [String]
    /// The name of the list; empty if the order names none.
    let list: String
    /// The questions about the list.
    let ofList: [ServiceQuestion]
    private let dialect: (any Dialect)?

    /// - Throws: a failure of the request if no dialect asks the source, or if a query is none of its service.
    init(_ selection: Prefetcher.Selection, _ titles: [TitleReference], in dialects: [any Dialect]) throws(Failure) {
        (source, queries, list) = (selection.source, selection.answers, selection.list ?? "")
        guard !queries.isEmpty else {
            (self.ofList, self.dialect) = ([], nil)
            return
        }
        guard queries.count <= Self.mostQueries else { throw Self.refusal("there are more than \(Self.mostQueries) “answers”") }
        guard
            let dialect = dialects.first(where: { $0.source?.isExactly(selection.source) ?? false && type(of: $0).documents != nil }
            )
        else {
            throw Self.refusal(
                "no dialect asks “\(selection.source.shortened(to: 64))” for answers, as tmdb does for the source tmdb")
        }
        self.dialect = dialect
        var ofList: [ServiceQuestion] = []
        do throws(RequestError) {
            for query in queries {
                if let list = selection.list {
                    ofList += try dialect.questions(about: .list(list, titles: titles.count), with: query)
                }
                // An error of the query is one of all titles.
                if let first = titles.first { _ = try dialect.questions(about: .title(first.id), with: query) }
            }
        } catch {
            throw Self.refusal("\(error)")
        }
        self.ofList = ofList
    }

    /// - Parameter title: with the own id of its source.
    /// - Throws: a failure if clients ask nothing about it.
    func question(about title: TitleReference, with query: String) throws(Failure) -> ServiceQuestion {
        do throws(RequestError) {
            if let question = try dialect?.questions(about: .title(title.id), with: query).first { return question }
        } catch {
            throw Self.refusal("\(error)")
        }
        throw Self.refusal("the service has no answer about this kind of title")
    }

    private static func refusal(_ reason: String) -> Failure {
        Failure(blame: .request, status: .badRequest, title: "Bad request", message: reason)
    }
}
