import FoundationEssentials
import Hummingbird
import HummingbirdCore
import HTTPTypes
import OnesheetCore
import OnesheetPipeline

/// `/sources`
struct SourcesRoute: Route {
    let prefix = "/sources"
    let installation: Installation

    struct Document: Encodable {
        struct Source: Encodable {
            let name: String
            let type: String
            let titles: String
        }
        let sources: [Source]
    }

    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        .json(
            Document(
                sources: installation.sources.map {
                    .init(
                        name: $0.name, type: installation.configuration.sources[$0.name]?.type ?? "",
                        titles: "/sources/\($0.name)/titles")
                }))
    }
}

/// `/sources/{source}/titles?date=…&query=…`, `/sources/{source}/titles/{id}` and `…/{id}/posters`
struct TitlesRoute: Route {
    let prefix = "/sources/"
    let installation: Installation

    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[1] == "titles" else { throw RequestError.noSuchPath(request.uri.path) }
        let source = try PercentEncoding.decode(parts[0])
        if parts.count == 2 { return try await list(source, request) }
        // An id may have slashes in it, so the last part decides.
        let asksForPosters = parts.count > 3 && parts.last == "posters"
        let id = try PercentEncoding.decode(parts[2..<(asksForPosters ? parts.count - 1 : parts.count)].joined(separator: "/"))
        let title = TitleReference(source: source, id: id)
        if asksForPosters { return .json(try await posters(title)) }
        return .json(TitleDocument(try await installation.catalog.title(title), of: source))
    }

    private func list(_ source: String, _ request: Request) async throws -> Response {
        let page = try await installation.catalog.titles(of: source, try TitleQuery(request.uri))
        return .json(
            TitlesDocument(
                titles: page.titles.map { TitleDocument($0, of: source) }, total: page.total, next: page.next))
    }

    private func posters(_ title: TitleReference) async throws -> PostersDocument {
        PostersDocument(
            candidates: try await installation.catalog.candidates(for: title).map {
                .init(
                    name: $0.location.name, width: $0.width, height: $0.height, site: $0.site, page: $0.page,
                    published: $0.published)
            })
    }
}

/// A page of titles.
struct TitlesDocument: Encodable {
    let titles: [TitleDocument]
    let total: Int?
    let next: Int?
}

/// A title with its poster's addresses by size.
struct TitleDocument: Encodable {
    let title: Title
    let posters: [String: String]

    init(_ title: Title, of source: String) {
        self.title = title
        let id = PercentEncoding.encode(id: title.id)
        posters = Dictionary(uniqueKeysWithValues: SizeLadder.names.map { ($0, "/t/p/\($0)/\(source)/\(id)") })
    }

    private enum CodingKeys: CodingKey { case posters }

    func encode(to encoder: any Encoder) throws {
        try title.encode(to: encoder)
        var keys = encoder.container(keyedBy: CodingKeys.self)
        try keys.encode(posters, forKey: .posters)
    }
}

/// Where a title's original may be, best first.
struct PostersDocument: Encodable {
    struct Candidate: Encodable {
        let name: String
        let width: Int?
        let height: Int?
        let site: String?
        let page: String?
        let published: Date?
    }
    let candidates: [Candidate]
}

extension TitleQuery {
    /// Reads `date`, `period`, `query` and `page`.
    init(_ uri: URI) throws(RequestError) {
        let parameters = uri.queryParameters
        self.init()
        if let text = parameters["date"], !text.isEmpty {
            guard let day = CalendarDay(text) else {
                throw .bad(option: "date", value: String(text), reason: "is not a day such as 2026-11-21")
            }
            date = day
        }
        if let text = parameters["period"], !text.isEmpty {
            guard let period = Period(rawValue: String(text)) else {
                throw .bad(
                    option: "period", value: String(text),
                    reason: "needs one of \(Period.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            self.period = period
        }
        if let text = parameters["page"], !text.isEmpty {
            guard let page = Int(text), (1...100_000).contains(page) else {
                throw .bad(option: "page", value: String(text), reason: "needs a number from 1")
            }
            self.page = page
        }
        if let text = parameters["query"], !text.isEmpty { phrase = String(text).replacing("+", with: " ") }
    }
}
