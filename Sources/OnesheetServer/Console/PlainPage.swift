import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetAddress
import OnesheetConsole
import OnesheetCore
import OnesheetHTTP
import OnesheetPipeline

/// The console for browsers without scripts: the same views as static HTML.
struct PlainPage {
    enum View {
        case titles(TitlePage, TitleQuery)
        case title(Title)
        case posters(TitleReference, PostersDocument)
        case problem(Problem)
        /// A view that there is only with scripts: its name, and its address.
        case needsScripts(String, address: String)
    }

    let sources: [String]
    let source: String
    let capabilities: SourceCapabilities
    let words: PlainWords
    let view: View

    var html: String {
        let links = sources.map(link).joined(separator: " ")
        return Self.document(
            """
            <header class="bar"><a class="brand" href="/?plain">Onesheet</a>
            <nav aria-label="\(words.sources)">\(links)</nav></header>
            <main>\(body)<p class="more faint">\(words.withoutScripts)</p></main>
            """, language: words.language)
    }

    /// The page of `problem` for a browser at an unknown path, with a link to the list.
    static func response(_ problem: Problem, to fields: HTTPFields) -> Response {
        let words = PlainWords(acceptLanguage: fields[.acceptLanguage])
        let page = document(
            """
            <header class="bar"><a class="brand" href="/">Onesheet</a></header>
            <main>\(notice(problem, words, link: "/"))</main>
            """, language: words.language)
        return response(ByteBuffer(string: page), problem: problem)
    }

    /// A page with the status and the header fields of its problem, if it is one.
    static func response(_ html: ByteBuffer, problem: Problem?) -> Response {
        var response = Response.written(html, status: problem?.status ?? .ok, type: "text/html; charset=utf-8")
        response.headers[.contentSecurityPolicy] = ConsolePage.policy
        response.headers[.cacheControl] = "no-cache"
        response.headers[.vary] = "Accept-Language"
        // `Retry-After` and `no-store`, as for a problem document.
        for field in problem?.fields ?? [:] where field.name != .contentType { response.headers[field.name] = field.value }
        return response
    }

    private static func document(_ body: String, language: String) -> String {
        """
        <!doctype html>
        <html lang="\(language)">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <title>Onesheet</title>
        <link rel="icon" href="\(ConsoleAsset.folder)icon.svg" type="image/svg+xml">
        <link rel="stylesheet" href="\(ConsoleAsset.folder)console.css">
        </head>
        <body class="plain">
        \(body)
        </body>
        </html>
        """
    }

    private var body: String {
        switch view {
        case .titles(let page, let query): list(page, query)
        case .title(let title): details(title)
        case .posters(let title, let posters): candidates(title, posters)
        case .problem(let problem): Self.notice(problem, words, link: "/?plain")
        case .needsScripts(let name, let address):
            """
            <div class="notice calm"><h1>\(name)</h1><p>\(words.viewNeedsScripts)</p><p><a href="\(address.html)">\(words.withScripts)</a></p></div>
            """
        }
    }

    private static func notice(_ problem: Problem, _ words: PlainWords, link: String) -> String {
        """
        <div class="notice" role="alert"><h1>\(problem.title.html)</h1><p lang="en">\(problem.detail.asSentence.html)</p>\
        <p><a href="\(link)">\(words.nowShowing)</a></p>\
        <p class="faint">\(words.request) \(WorkContext.current.request?.html ?? "")</p></div>
        """
    }

    private func link(_ name: String) -> String {
        let current = name.isExactly(source) ? " aria-current=\"page\"" : ""
        return "<a href=\"\(address(name))\"\(current)>\(name.html)</a>"
    }

    /// The URL of a view, escaped for an attribute.
    private func address(_ source: String, _ parameters: KeyValuePairs<String, String?> = [:]) -> String {
        let query = PercentEncoding.query(parameters)
        return "/?plain&amp;source=\(PercentEncoding.encode(source))" + (query.isEmpty ? "" : "&amp;\(query.html)")
    }

    // MARK: The list

    private func list(_ page: TitlePage, _ query: TitleQuery) -> String {
        let cards = page.titles.map(card).joined(separator: "\n")
        return """
            <h1>\(heading(query).html)</h1>
            \(capabilities.periods.isEmpty ? "" : days(query))\(capabilities.searches ? search(query) : "")
            \(page.titles.isEmpty ? "<p class=\"notice\">\(words.none)</p>" : "<ol class=\"wall\">\(cards)</ol>")
            <p class="more">\(query.page > 1 ? turn(query, to: query.page - 1, words.previous) : "") \
            \(page.next.map { turn(query, to: $0, words.next) } ?? "")</p>
            """
    }

    private func heading(_ query: TitleQuery) -> String {
        if let phrase = query.phrase { return words.found(phrase) }
        if let date = query.date { return words.showing(on: "\(date)") }
        return capabilities.periods.isEmpty ? words.titles : words.nowShowing
    }

    private var hidden: String {
        "<input type=\"hidden\" name=\"plain\"><input type=\"hidden\" name=\"source\" value=\"\(source.html)\">"
    }

    private func search(_ query: TitleQuery) -> String {
        """
        <form class="tools" action="/" role="search">\(hidden)<label for="query">\(words.title)</label>\
        <input type="search" id="query" name="query" value="\((query.phrase ?? "").html)"><button>\(words.search)</button></form>
        """
    }

    private func days(_ query: TitleQuery) -> String {
        let periods = capabilities.periods.map { period in
            let selected = period == query.period ? " selected" : ""
            return "<option value=\"\(period.rawValue)\"\(selected)>\(words.period(period))</option>"
        }
        let bounds = [("min", capabilities.firstDay), ("max", capabilities.lastDay), ("value", query.date)]
            .map { name, day in day.map { " \(name)=\"\($0)\"" } ?? "" }.joined()
        return """
            <form class="tools" action="/">\(hidden)<label for="date">\(words.day)</label><input type="date" id="date" name="date"\(bounds)>\
            \(periods.count < 2 ? "" : "<label for=\"period\">\(words.periodLabel)</label><select id=\"period\" name=\"period\">\(periods.joined())</select>")\
            <button>\(words.show)</button></form>
            """
    }

    private func turn(_ query: TitleQuery, to page: Int, _ words: String) -> String {
        let target = address(
            source,
            [
                "date": query.date.map(\.description), "period": query.period == .day ? nil : query.period.rawValue,
                "query": query.phrase, "page": String(page),
            ])
        return "<a href=\"\(target)\">\(words)</a>"
    }

    private func card(_ title: Title) -> String {
        let names = words.names(of: title)
        let other = names.other.map { "<span class=\"original\"\(words.lang($0))>\($0.html)</span>" } ?? ""
        let rank = title.rank.map { "<span class=\"place\"><span class=\"rank\">\($0)</span></span>" } ?? ""
        return """
            <li class="card"><a href="\(address(source, ["title": title.id]))">
              <span class="frame"><img src="\(picture("w342", title.id))" width="342" height="513" loading="lazy" alt=""></span>
              \(rank)<span class="names"><b class="name"\(words.lang(names.first))>\(names.first.html)</b>\(other)</span>
              <span class="facts">\(title.releaseDate.map { "\($0)" } ?? "")</span></a></li>
            """
    }

    private func picture(_ size: String, _ id: String) -> String {
        PosterPath.text(of: TitleReference(source: source, id: id), size: size)
    }

    // MARK: A title

    private func details(_ title: Title) -> String {
        let names = words.names(of: title)
        var facts = [(words.released, title.releaseDate.map { "\($0)" } ?? "")]
        for (name, value) in title.metadata.sorted(by: { $0.key < $1.key }) {
            if let label = words.fact(name) { facts.append((label, Self.text(value))) }
        }
        facts.append((words.ids, title.ids.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " ")))
        // What the services demand.
        if let attribution = title.metadata["attribution"] { facts.append((words.attribution, Self.text(attribution))) }
        let rows = facts.filter { !$0.1.isEmpty }.map { "<dt>\($0.0)</dt><dd>\($0.1.html)</dd>" }.joined()
        let sizes = SizeLadder.names.map { "<a href=\"\(picture($0, title.id))\">\($0)</a>" }.joined(separator: " ")
        return """
            <p class="way"><a href="\(address(source))">‹ \(words.back)</a></p>
            <article class="title">
            <div class="sheet"><img src="\(picture("w500", title.id))" width="500" height="750" alt="\(words.poster)"></div>
            <div class="about"><h1\(words.lang(names.first))>\(names.first.html)</h1>\
            \(names.other.map { "<p class=\"original\"\(words.lang($0))>\($0.html)</p>" } ?? "")
            <p>\((title.overview ?? "").html)</p><dl>\(rows)</dl>
            <p>\(words.sizes): \(sizes)</p>
            <p><a href="\(address(source, ["posters": title.id]))">\(words.posters)</a></p></div></article>
            """
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .array(let values): values.prefix(20).map(text).joined(separator: ", ")
        case .object(let members): (members["peopleNm"] ?? members["watchGradeNm"] ?? members["name"]).map(text) ?? ""
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .bool, .null: ""
        }
    }

    // MARK: Candidates

    private func candidates(_ title: TitleReference, _ posters: PostersDocument) -> String {
        let rows = posters.candidates.map { candidate in
            let size = candidate.width.flatMap { width in candidate.height.map { "\(width) × \($0)" } } ?? ""
            return """
                <li><img src="\(preview(title, candidate.candidate))" width="\(candidate.width ?? 2)" height="\(candidate.height ?? 3)" \
                loading="lazy" alt="\(words.candidate) \(candidate.candidate)"> \(words.state(candidate.state)) \(size) \(origin(candidate)) \
                <span class="faint">\(candidate.reasons.joined(separator: ", ").html)</span></li>
                """
        }
        return """
            <p class="way"><a href="\(address(source, ["title": title.id]))">‹ \(words.backToTitle)</a></p>
            <h1>\(words.posters)</h1>
            <div class="choice"><div class="present"><div class="sheet"><img src="\(picture("w342", title.id))" width="342" height="513" alt="\(words.poster)"></div></div>
            <ol class="previews">\(rows.joined(separator: "\n"))</ol></div>
            """
    }

    /// The address of a candidate's picture.
    private func preview(_ title: TitleReference, _ number: Int) -> String {
        "/sources/\(PercentEncoding.encode(source))/titles/\(PercentEncoding.encode(id: title.id))/posters/\(number)"
    }

    /// The site of a candidate's picture with a link to its page, or its file.
    private func origin(_ candidate: PostersDocument.Candidate) -> String {
        guard let page = candidate.page, WebURL(page) != nil else {
            return (candidate.site ?? candidate.page ?? candidate.name).html
        }
        return "<a href=\"\(page.html)\" rel=\"noreferrer noopener\">\((candidate.site ?? candidate.name).html)</a>"
    }
}
