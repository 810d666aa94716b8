package import OnesheetCore

/// Goes through whole lists of a source, page after page, for all who want more than one page: prefetching, bundles, estimates.
///
/// It ends, whatever the source answers: each page brings something new and the next one lies behind it, or the source's answer is
/// malformed; and there are only so many titles.
package struct TitleListing {
    /// Titles on all pages of all lists together.
    package static let titles = 1_000_000
    /// Bytes of what is kept of them.
    package static let bytes = 128 << 20

    private let catalog: Catalog
    private let source: String
    private var titles = 0
    private var bytes = 0

    package init(of source: String, in catalog: Catalog) { (self.catalog, self.source) = (catalog, source) }

    /// The ids of all titles that `query` asks for.
    package mutating func ids(_ query: TitleQuery) async throws(PipelineError) -> [String] {
        try await all(query) { ($0.id, 100 + $0.id.utf8.count) }
    }

    /// All titles that `query` asks for.
    package mutating func titles(_ query: TitleQuery) async throws(PipelineError) -> [Title] {
        try await all(query) { ($0, AnswerCheck.weight(of: $0)) }
    }

    /// - Parameter keep: what is kept of a title, and how many bytes that takes.
    private mutating func all<Kept>(
        _ query: TitleQuery, _ keep: (Title) -> (Kept, bytes: Int)
    ) async throws(PipelineError) -> [Kept] {
        var query = query
        var kept: [Kept] = []
        var seen: Set<ExactText> = []
        while true {
            let page = try await catalog.titles(of: source, query)
            let known = seen.count
            for title in page.titles {
                seen.insert(ExactText(title.id))
                let (value, weight) = keep(title)
                kept.append(value)
                titles += 1
                bytes += weight
                guard titles <= Self.titles, bytes <= Self.bytes else {
                    throw malformed("the lists have more than \(Self.titles) titles, or \(Self.bytes) bytes of them")
                }
            }
            guard let next = page.next else { return kept }
            guard next > query.page, next <= AnswerCheck.lastPage else {
                throw malformed("the page after \(query.page) is \(next)")
            }
            guard seen.count > known else { throw malformed("page \(query.page) brings nothing new and is not the last") }
            query.page = next
        }
    }

    private func malformed(_ reason: String) -> PipelineError { .source(source, .malformedAnswer(reason: reason)) }
}
