import FoundationEssentials
import HummingbirdCore
import HTTPTypes
import Logging
import NIOCore
import OnesheetAddress
import OnesheetConsole
import OnesheetCore
import OnesheetHTTP
import OnesheetPipeline

/// `/`: the console. Its script builds each view from the API's responses. With `plain` in the query, the server renders the view
/// for browsers without scripts, or the problem as a page with its status.
struct ConsoleRoute: Route {
    let prefix = "/"
    /// Sources by name, in configuration order.
    let sources: [(name: String, source: any ContentSource)]
    let catalog: Catalog
    let posters: Posters
    let memory: MemoryBudget
    let administrator: Administrator
    let documents: ListDocuments
    let clock: WallClock
    let logger: Logger

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        let query = context.query.dropFirst()
        let html: ByteBuffer
        var problem: Problem?
        if context.uri.formParameters["plain"] == nil {
            html = ByteBuffer(string: ConsolePage.html(plain: query.isEmpty ? "/?plain" : "/?plain&\(query)"))
        } else {
            let name = try source(context.request)
            let words = PlainWords(acceptLanguage: context.headers[.acceptLanguage])
            let shown: PlainPage.View
            let notice = scripted(context.request, query: query, words: words)
            let view = if let notice { notice } else { try await self.view(context, words) }
            let reservation = memory.reserve(view.memory)
            defer { withExtendedLifetime(reservation) {} }
            shown = reservation == nil ? .problem(self.problem(of: Failure.overloaded(retryAfter: 1))) : view
            let page = PlainPage(
                sources: sources.filter { $0.source.capabilities.hasLists || $0.name.isExactly(name) }.map(\.name), source: name,
                capabilities: sources.source(named: name)?.capabilities ?? SourceCapabilities(),
                words: words, view: shown)
            html = try await document(of: page)
            if case .problem(let shown) = page.view { problem = shown }
        }
        return PlainPage.response(html, problem: problem)
    }

    /// The page as HTML. That of a list is kept.
    private func document(of page: PlainPage) async throws -> ByteBuffer {
        guard case .titles(let titles, let query) = page.view else { return ByteBuffer(string: page.html) }
        // The sources stay as they are until a reload, but for what they can do.
        let listed = ListedTitles(page: titles, capabilities: page.capabilities)
        return try await documents.document(of: listed, named: "html \(page.words.language) \(page.source) \(query.name)") { _ in
            ByteBuffer(string: page.html)
        }
    }

    /// The notice of a view that there is only with scripts. Titles and candidates are in the address before it.
    private func scripted(_ request: Request, query: Substring, words: PlainWords) -> PlainPage.View? {
        let parameters = request.uri.formParameters
        guard parameters["posters"] == nil, parameters["title"] == nil, let view = parameters["view"],
            let name = words.scripted(String(view))
        else { return nil }
        let rest = query.pieces(at: "&").filter { $0 != "plain" && !$0.starts(withBytesOf: "plain=") }.joined(separator: "&")
        return .needsScripts(name, address: "/?\(rest)")
    }

    private func source(_ request: Request) throws -> String {
        if let name = request.uri.formParameters["source"] { return String(name) }
        let shown = sources.first { $0.source.capabilities.hasLists } ?? sources.first { $0.source.capabilities.searches }
        return (shown ?? sources.first)?.name ?? ""
    }

    /// The requested view, or the problem of its error.
    private func view(_ context: RequestContext, _ words: PlainWords) async throws -> PlainPage.View {
        let request = context.request
        let parameters = request.uri.formParameters
        let source = try source(request)
        do {
            try administrator.checkLists(context)
            if let id = parameters["posters"] {
                let title = try await catalog.own(TitleReference(source: source, id: String(id)).canonical(in: sources))
                return .posters(
                    title,
                    PostersDocument(
                        try await posters.choice(of: ImageReference(title)), try await posters.current(ImageReference(title)),
                        isWhole: false)
                )
            }
            if let id = parameters["title"] {
                let found = FoundTitle(TitleReference(source: source, id: String(id)), in: sources)
                return .title(try await catalog.title(found.title, from: found.source, in: found.source?.languages))
            }
            let query = try TitleQuery(request.uri)
            if let capabilities = sources.source(named: source)?.capabilities, !capabilities.hasLists, query.phrase == nil {
                guard !capabilities.searches, let name = words.scripted("try") else { return .titles(TitlePage(titles: []), query) }
                return .needsScripts(name, address: "/?view=try")
            }
            return .titles(try await catalog.titles(of: source, query), query)
        } catch {
            return .problem(problem(of: error))
        }
    }

    private func problem(of error: any Error) -> Problem {
        let problem = Problem(error, at: clock.now.timeIntervalSince1970)
        if problem.status == .internalServerError { logger.error("cannot create the page: \(error)") }
        return problem
    }
}

/// `/console/{fingerprint}/{file}`: the console's files. A file at one address never changes.
struct ConsoleFileRoute: Route {
    let prefix = "/console/"

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        let path = ConsoleAsset.folder.dropFirst(prefix.count)
        guard rest.starts(withBytesOf: String(path)), let asset = ConsoleAsset.all[String(rest.dropFirst(path.count))] else {
            throw RequestError.noSuchPath(context.uri.path)
        }
        return .asset(asset, cacheControl: "public, max-age=31536000, immutable")
    }
}

/// `/favicon.ico`: browsers request it for responses that are not HTML pages.
struct FaviconRoute: Route {
    let prefix = "/favicon.ico"

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        guard let icon = ConsoleAsset.all["icon.svg"] else { throw RequestError.noSuchPath(prefix) }
        return .asset(icon, cacheControl: "public, max-age=86400")
    }
}

extension Response {
    fileprivate static func asset(_ asset: ConsoleAsset, cacheControl: String) -> Response {
        var response = Response.text(String(decoding: asset.bytes, as: UTF8.self), type: asset.mediaType)
        response.headers[.cacheControl] = cacheControl
        return response
    }
}
