import OnesheetAddress
import FoundationEssentials
import HummingbirdCore
import HTTPTypes
import NIOCore
import OnesheetCore
import OnesheetHTTP
import OnesheetPipeline

/// `/sources`: the sources, their health and their capabilities.
struct SourcesRoute: Route {
    let prefix = "/sources"
    /// Sources by name, in configuration order.
    let sources: [(name: String, source: any ContentSource)]
    /// In the same order.
    let watches: [(name: String, watch: SourceWatch)]
    /// Source types by source name.
    let types: [String: String]
    let administrator: Administrator
    let clock: WallClock

    struct Document: Encodable {
        struct Source: Encodable {
            let name: String
            let type: String
            /// The address of lists and searches; absent if the source has neither.
            let titles: String?
            /// `well`, `failing` (with `since` and `reason`), `exhausted` or `limited` (with `until`).
            let state: String
            let since: Date?
            let reason: String?
            /// The words of the source's program, for the administrator.
            let details: String?
            let until: Date?
            /// The capabilities: whether the source has lists and search, and the periods and days of its dated lists.
            let hasLists: Bool
            let searches: Bool
            let periods: [TitleQuery.Period]
            let firstDay: CalendarDay?
            let lastDay: CalendarDay?
        }
        let sources: [Source]
    }

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        let today = CalendarDay(clock.now, secondsFromGMT: 0)
        let isAdministrator = try administrator.isAsking(context)
        return try .json(
            Document(
                sources: zip(watches, sources).map { watched, source in
                    .init(
                        watched.name, type: types[watched.name] ?? "", health: watched.watch.health,
                        capabilities: source.source.capabilities, today: today, showsDetails: isAdministrator)
                }))
    }
}

extension SourcesRoute.Document.Source {
    init(
        _ name: String, type: String, health: SourceHealth, capabilities: SourceCapabilities, today: CalendarDay, showsDetails: Bool
    ) {
        self.name = name
        self.type = type
        titles = capabilities.hasLists || capabilities.searches ? "/sources/\(name)/titles" : nil
        hasLists = capabilities.hasLists
        searches = capabilities.searches
        periods = capabilities.periods
        firstDay = capabilities.firstDay
        lastDay = capabilities.periods.isEmpty ? nil : capabilities.lastDay ?? today
        switch health {
        case .well: (state, since, reason, details, until) = ("well", nil, nil, nil, nil)
        case .failing(let since, let reason, let words):
            state = "failing"
            self.since = since
            self.reason = reason
            details = showsDetails ? words : nil
            until = nil
        case .limited(let until): (state, since, reason, details, self.until) = ("limited", nil, nil, nil, until)
        case .exhausted(let until): (state, since, reason, details, self.until) = ("exhausted", nil, nil, nil, until)
        }
    }
}

/// `/sources/{source}/titles?date=…&query=…`, `/sources/{source}/titles/{id}`, `…/{id}/posters[/{n}]` and `…/{id}/poster`.
struct TitlesRoute: Route {
    let prefix = "/sources/"
    let methods: [HTTPTypes.HTTPRequest.Method] = [.get, .head, .put, .delete]
    let images: ImageContext
    let catalog: Catalog
    let posters: Posters
    let administrator: Administrator
    let documents: ListDocuments

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        let parts = rest.pieces(at: "/", omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[1] == "titles" else { throw RequestError.noSuchPath(context.uri.path) }
        try administrator.checkLists(context)
        let source = try PercentEncoding.decode(parts[0])
        let changes = context.method == .put || context.method == .delete
        if !changes, parts.count > 4, parts[parts.count - 2] == "posters", let number = Int(canonical: parts[parts.count - 1]) {
            let id = try PercentEncoding.decode(parts[2..<(parts.count - 2)].joined(separator: "/"))
            let found = try await found(id, of: source)
            return try await TitlePosters(
                posters: posters, found: found, selector: try selector(context.request), administrator: administrator,
                images: images
            ).picture(context, number)
        }
        // An id may contain slashes, so the last part decides.
        let asksForPosters = parts.count > 3 && parts.last == (changes ? "poster" : "posters")
        guard asksForPosters || !changes else { throw RequestError.method(allowed: ["GET", "HEAD", "OPTIONS"]) }
        if parts.count == 2 { return try await list(source, context.request) }
        let id = try PercentEncoding.decode(parts[2..<(asksForPosters ? parts.count - 1 : parts.count)].joined(separator: "/"))
        if !asksForPosters { try refuseQuery(behind: id, context) }
        let found = try await found(id, of: source)
        guard asksForPosters else {
            let languages = try languages(context.request) ?? found.source?.languages
            let title = try await catalog.title(found.title, from: found.source, in: languages)
            return try .json(
                TitleDocument(title, of: source, await images.pipeline.facts(of: ImageReference(found.title), from: found.source)))
        }
        let choice = TitlePosters(
            posters: posters, found: found, selector: try selector(context.request), administrator: administrator, images: images)
        switch context.method {
        case .put: return try await choice.put(context)
        case .delete: return try await choice.delete(context)
        default: return try await choice.show(context)
        }
    }

    /// Refuses a query behind an id that is a URL, if it has anything but parameters of this route: it is part of that URL as it was meant.
    private func refuseQuery(behind id: String, _ context: RequestContext) throws(RequestError) {
        guard id.isWebURL, !context.query.isEmpty else { return }
        let names = context.query.dropFirst().pieces(at: "&").map { $0.cut(at: "=")?.before ?? $0 }
        guard names.isEmpty || !names.allSatisfy({ $0 == "language" || $0 == "image" }) else { return }
        throw ImagePath.unwritable("?")
    }

    /// The title, by the own id of its source.
    private func found(_ id: String, of source: String) async throws -> FoundTitle {
        let found = FoundTitle(TitleReference(source: source, id: id), in: images.sources)
        return FoundTitle(canonical: try await catalog.own(found.title, from: found.source), source: found.source)
    }

    /// The image that `?image=logo.ko.none` means; without the parameter, the poster.
    private func selector(_ request: Request) throws(RequestError) -> ImageSelector {
        guard let text = request.uri.formParameters["image"], !text.isEmpty else { return .poster }
        return try ImageSelector(text)
    }

    /// The languages of texts that `?language=ko.original.en` wants; without the parameter, those of the source.
    private func languages(_ request: Request) throws(RequestError) -> LanguageList? {
        guard let text = request.uri.formParameters["language"], !text.isEmpty else { return nil }
        return try LanguageList(text)
    }

    private func list(_ source: String, _ request: Request) async throws -> Response {
        let query = try TitleQuery(request.uri)
        let found = images.sources.source(named: source)
        let page = try await catalog.titles(of: source, query, from: found)
        let listed = ListedTitles(page: page, facts: await images.pipeline.factsVersion(of: source))
        let document = try await documents.document(of: listed, named: "json \(source) \(query.name)") {
            var facts: [PosterFacts?] = []
            for title in page.titles {
                let poster = ImageReference(TitleReference(source: source, id: title.id))
                facts.append(await images.pipeline.facts(of: poster, from: found))
            }
            return facts
        } make: { facts in
            let bytes = page.titles.reduce(0) { $0 + $1.id.utf8.count } * TitlesDocument.timesOfIDs
            guard let memory = images.pipeline.pool.memory.reserve(bytes) else { throw Failure.overloaded(retryAfter: 1) }
            defer { withExtendedLifetime(memory) {} }
            let titles = zip(page.titles, facts).map { TitleDocument($0.read(in: found?.languages), of: source, $1) }
            return try ByteBuffer(json: TitlesDocument(titles: titles, total: page.total, next: page.next))
        }
        return .written(document)
    }
}

/// A page of titles.
struct TitlesDocument: Encodable {
    /// The memory that a document takes while it is made, in bytes of its ids. Each title has a URL for each size, in which each byte of its
    /// id may take three, and the document is there as values, as text and as bytes.
    static let timesOfIDs = SizeLadder.names.count * 3 * 3

    let titles: [TitleDocument]
    let total: Int?
    let next: Int?
}

/// A title with the URLs of its poster by size.
struct TitleDocument: Encodable {
    let title: Title
    let posters: [String: String]
    /// `nil` until the poster has been rendered in any size.
    let poster: PosterDocument?

    init(_ title: Title, of source: String, _ facts: PosterFacts?) {
        poster = facts.map(PosterDocument.init)
        self.title = title
        let reference = TitleReference(source: source, id: title.id)
        posters = Dictionary(uniqueKeysWithValues: SizeLadder.names.map { ($0, PosterPath.text(of: reference, size: $0)) })
    }

    private enum CodingKeys: CodingKey { case posters, poster }

    func encode(to encoder: any Encoder) throws {
        try title.encode(to: encoder)
        var keys = encoder.container(keyedBy: CodingKeys.self)
        try keys.encode(posters, forKey: .posters)
        try keys.encodeIfPresent(poster, forKey: .poster)
    }
}

/// Facts for showing a placeholder before the poster is loaded: its size, the size of each variant, and a ThumbHash.
struct PosterDocument: Encodable {
    struct Size: Encodable {
        let width: Int
        let height: Int
    }

    let width: Int
    let height: Int
    let thumbHash: String
    let color: String
    let sizes: [String: Size]

    init(_ facts: PosterFacts) {
        width = facts.width
        height = facts.height
        thumbHash = facts.thumbHash
        color = facts.color
        sizes = SizeLadder.all.mapValues { transform in
            let size = facts.size(transform)
            return Size(width: size.width, height: size.height)
        }
    }
}

extension TitleQuery {
    /// Parses `date`, `period`, `query` and `page`.
    init(_ uri: URI) throws(RequestError) {
        let parameters = uri.formParameters
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
            guard let page = Int(canonical: text), (1...100_000).contains(page) else {
                throw .bad(option: "page", value: String(text), reason: "needs a number from 1")
            }
            self.page = page
        }
        if let text = parameters["query"], !text.isEmpty {
            guard text.utf8.count <= TitleQuery.longestPhrase else {
                throw .bad(option: "query", value: String(text), reason: "has more than \(TitleQuery.longestPhrase) bytes")
            }
            phrase = String(text)
        }
    }
}
