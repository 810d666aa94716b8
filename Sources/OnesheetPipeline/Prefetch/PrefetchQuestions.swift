package import OnesheetCore

/// What clients will ask the service of a source about the titles of a prefetch, and about their list.
package struct PrefetchQuestions: Sendable {
    static let mostQueries = 8

    let source: String
    /// The queries of the questions about each title.
    let queries: [String]
    /// The name of the list; `nil` if the order names none.
    let list: String?
    /// The questions about the list, when its titles are known.
    private(set) var ofList: [ServiceQuestion] = []
    private let dialect: (any Dialect)?

    /// - Throws: a failure of the request if no dialect asks the source, or if a query is none of its service.
    package init(_ selection: Prefetcher.Selection, in dialects: [any Dialect]) throws(Failure) {
        (source, queries, list) = (selection.source, selection.answers, selection.list)
        guard !queries.isEmpty else {
            dialect = nil
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
        // An error of a query is one of all titles.
        for query in queries { _ = try Self.questions(of: dialect, about: .title(""), with: query) }
    }

    /// These questions and those about the list.
    /// - Parameter titles: the number of titles in the list.
    func asking(aboutListOf titles: Int) throws(Failure) -> PrefetchQuestions {
        guard let list, let dialect else { return self }
        var asking = self
        for query in queries { asking.ofList += try Self.questions(of: dialect, about: .list(list, titles: titles), with: query) }
        return asking
    }

    /// - Parameter title: with the own id of its source.
    /// - Throws: a failure if clients ask nothing about it.
    func question(about title: TitleReference, with query: String) throws(Failure) -> ServiceQuestion {
        if let dialect, let question = try Self.questions(of: dialect, about: .title(title.id), with: query).first {
            return question
        }
        throw Self.refusal("the service has no answer about this kind of title")
    }

    private static func questions(
        of dialect: any Dialect, about subject: ServiceSubject, with query: String
    ) throws(Failure) -> [ServiceQuestion] {
        do throws(RequestError) { return try dialect.questions(about: subject, with: query) } catch { throw refusal("\(error)") }
    }

    private static func refusal(_ reason: String) -> Failure {
        Failure(blame: .request, status: .badRequest, title: "Bad request", message: reason)
    }
}
