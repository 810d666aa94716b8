import OnesheetCore

/// Reads whole lists of a source, page by page, with canonical ids. Only this type follows pages.
///
/// Reading always ends. Each page must have a new title and a higher number for the next page, otherwise the answer is malformed.
/// The number of titles and their bytes are bounded, and their memory counts as long as `memory` is referenced.
struct TitleListing {
    /// Limits for all pages of all lists together.
    static let mostTitles = 1_000_000
    static let mostBytes = 128 << 20

    private let name: String
    private let source: any ContentSource
    private let catalog: Catalog
    private let patience: Patience
    let memory: MemoryReservation
    private var titles = 0
    private var bytes = 0
    /// What is missing: the pages that the service refused, and all after them.
    private(set) var missing: [PrefetchSummary.Failure] = []

    /// - Parameters:
    ///   - name: the name of `source`.
    ///   - budget: the memory for the titles.
    /// - Throws: `Failure.overloaded` if there is no memory.
    init(
        of name: String, from source: any ContentSource, in catalog: Catalog, counting budget: MemoryBudget,
        with patience: Patience = Patience()
    ) throws(Failure) {
        guard let memory = budget.reserve(0) else { throw .overloaded(retryAfter: 1) }
        self.memory = memory
        self.name = name
        self.source = source
        self.catalog = catalog
        self.patience = patience
    }

    /// The ids of all titles that match `query`.
    mutating func ids(_ query: TitleQuery) async throws(Failure) -> [String] {
        try await all(query) { ($0.id, 100 + $0.id.utf8.count) }
    }

    /// All titles that match `query`.
    mutating func titles(_ query: TitleQuery) async throws(Failure) -> [Title] {
        try await all(query) { ($0, AnswerCheck.weight(of: $0)) }
    }

    /// - Parameter keep: the part of a title to keep, and its size in bytes.
    private mutating func all<Kept>(
        _ query: TitleQuery, _ keep: (Title) -> (Kept, bytes: Int)
    ) async throws(Failure) -> [Kept] {
        var query = query
        var kept: [Kept] = []
        var seen: Set<ExactText> = []
        while true {
            let page: TitlePage
            do throws(Failure) {
                page = try await patience.waiting { [query] () async throws(Failure) in
                    try await catalog.titles(of: name, query, from: source)
                }
            } catch {
                // The service would refuse it again. What passes by itself makes the whole list fail, so that it is read again.
                guard query.page > 1, error.traits.contains(.endsList) else { throw error }
                missing.append(
                    .init(title: "\(name), pages from \(query.page)", variants: 0, reason: "the list ends there: \(error.reason)"))
                return kept
            }
            let known = seen.count
            for var title in page.titles {
                title.id = source.canonicalID(title.id)
                seen.insert(ExactText(title.id))
                let (value, weight) = keep(title)
                kept.append(value)
                titles += 1
                bytes += weight
                guard titles <= Self.mostTitles, bytes <= Self.mostBytes else {
                    throw malformed("the lists have more than \(Self.mostTitles) titles, or \(Self.mostBytes) bytes of them")
                }
            }
            // Twice: collections grow by doubling, and duplicates are found with a set.
            guard memory.grow(to: 2 * bytes) else { throw .overloaded(retryAfter: 1) }
            guard let next = page.next else { return kept }
            guard next > query.page, next <= AnswerCheck.lastPage else {
                throw malformed("the page after \(query.page) is \(next)")
            }
            guard seen.count > known else { throw malformed("page \(query.page) has no new title and is not the last") }
            query.page = next
        }
    }

    private func malformed(_ reason: String) -> Failure { .source(name, .malformedAnswer(reason: reason)) }
}
