import Hummingbird
import HTTPTypes
import OnesheetCore
import OnesheetPipeline

/// `POST /prefetch` `{"source": "sample", "date": "2026-11-20", "ids": ["1"], "sizes": ["w342"], "formats": ["jpg"]}`; for the
/// administrator. Answers with the summary when all is made.
struct PrefetchRoute: Route {
    let prefix = "/prefetch"
    let methods: [HTTPRequest.Method] = [.post]
    let installation: Installation

    private struct Order: Decodable {
        let source: String
        let date: CalendarDay?
        let ids: [String]?
        let sizes: [String]?
        let formats: [String]?
    }

    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        try installation.requireAdministrator(request)
        let order = try await request.order(Order.self, such: "{\"source\": \"sample\", \"sizes\": [\"w342\"]}")
        let prefetch = PrefetchOrder(
            source: order.source, ids: order.ids ?? [], dates: order.date.map { [$0] } ?? [],
            sizes: order.sizes ?? PrefetchOrder.usualSizes, formats: order.formats ?? PrefetchOrder.usualFormats)
        let (titles, transforms) = try await prefetch.resolve(installation)
        return .json(await installation.prefetch.run(titles, transforms) { _ in })
    }
}

/// What to prefetch, in the words of the command line and of the HTTP interface.
struct PrefetchOrder {
    static let usualSizes = ["w185", "w342"]
    static let usualFormats = ["jpg"]

    let source: String
    /// Titles by id; empty takes the source's lists.
    let ids: [String]
    /// The days whose lists to take; empty is the source's newest.
    let dates: [CalendarDay]
    let sizes: [String]
    let formats: [String]

    /// The titles, each once, and the transforms that this order means.
    func resolve(_ installation: Installation) async throws -> (titles: [TitleReference], transforms: [Transform]) {
        let options = installation.options
        let transforms = try sizes.flatMap { size throws(RequestError) in
            try formats.map { format throws(RequestError) in
                var transform = try SizeLadder.transform(size)
                transform.format = try options.format(format)
                return transform
            }
        }
        var ids = ids
        if ids.isEmpty {
            let days: [CalendarDay?] = dates.isEmpty ? [nil] : dates
            for day in days {
                var query = TitleQuery(date: day)
                while true {
                    let page = try await installation.catalog.titles(of: source, query)
                    ids += page.titles.map(\.id)
                    guard let next = page.next else { break }
                    query.page = next
                }
            }
        }
        var seen: Set<String> = []
        return (ids.filter { seen.insert($0).inserted }.map { TitleReference(source: source, id: $0) }, transforms)
    }
}
