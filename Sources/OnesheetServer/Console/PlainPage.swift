import FoundationEssentials
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
    }

    let sources: [String]
    let source: String
    let words: PlainWords
    let view: View

    var html: String {
        """
        <!doctype html>
        <html lang="\(words.language)">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <title>Onesheet</title>
        <link rel="icon" href="\(ConsoleAsset.folder)icon.svg" type="image/svg+xml">
        <link rel="stylesheet" href="\(ConsoleAsset.folder)console.css">
        </head>
        <body class="plain">
        <header class="bar"><a class="brand" href="/?plain">Onesheet</a>
        <nav aria-label="\(words.sources)">\(sources.map(link).joined(separator: " "))</nav></header>
        <main>\(body)</main>
        </body>
        </html>
        """
    }

    private var body: String {
        switch view {
        case .titles(let page, let query): list(page, query)
        case .title(let title): details(title)
        case .posters(let title, let posters): candidates(title, posters)
        case .problem(let problem):
            """
            <div class="notice" role="alert"><h1>\(problem.title.html)</h1><p>\(problem.detail.html)</p>\
            <p class="faint">\(words.request) \(RequestID.current?.description.html ?? "")</p></div>
            """
        }
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
            <form class="tools" action="/" role="search"><input type="hidden" name="plain"><input type="hidden" name="source" \
            value="\(source.html)"><input type="search" name="query" value="\((query.phrase ?? "").html)" aria-label="\(words.search)">\
            <button>\(words.search)</button></form>
            \(page.titles.isEmpty ? "<p class=\"notice\">\(words.none)</p>" : "<ol class=\"wall\">\(cards)</ol>")
            <p class="more">\(query.page > 1 ? turn(query, to: query.page - 1, words.previous) : "") \
            \(page.next.map { turn(query, to: $0, words.next) } ?? "")</p>
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
        let original = title.originalName.map { "<span class=\"original\">\($0.html)</span>" } ?? ""
        let details = [title.rank.map { "\($0)" }, title.releaseDate.map { "\($0)" }].compactMap { $0 }.joined(separator: " · ")
        return """
            <li class="card"><a href="\(address(source, ["title": title.id]))">
              <span class="frame"><img src="\(picture("w342", title.id))" width="342" height="513" loading="lazy" alt=""></span>
              <b class="name">\(title.name.html)</b>\(original)<span class="facts">\(details)</span></a></li>
            """
    }

    private func picture(_ size: String, _ id: String) -> String {
        "/t/p/\(size)/\(PercentEncoding.encode(source))/\(PercentEncoding.encode(id: id))"
    }

    // MARK: A title

    private func details(_ title: Title) -> String {
        var facts = [(words.released, title.releaseDate.map { "\($0)" } ?? "")]
        for (name, value) in title.metadata.sorted(by: { $0.key < $1.key }) {
            if let label = words.fact(name) { facts.append((label, Self.text(value))) }
        }
        let rows = facts.filter { !$0.1.isEmpty }.map { "<dt>\($0.0)</dt><dd>\($0.1.html)</dd>" }.joined()
        let sizes = SizeLadder.names.map { "<a href=\"\(picture($0, title.id))\">\($0)</a>" }.joined(separator: " ")
        return """
            <p><a href="\(address(source))">\(words.back)</a></p>
            <article class="title">
            <div class="sheet"><img src="\(picture("w500", title.id))" width="500" height="750" alt="\(words.poster)"></div>
            <div class="about"><h1>\(title.name.html)</h1><p class="original">\((title.originalName ?? "").html)</p>
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
                <li>\(words.state(candidate.state)) \(size) \(origin(candidate)) \
                <span class="faint">\(candidate.reasons.joined(separator: ", ").html)</span></li>
                """
        }
        return """
            <p><a href="\(address(source, ["title": title.id]))">\(words.back)</a></p>
            <h1>\(words.posters)</h1>
            <div class="sheet"><img src="\(picture("w342", title.id))" width="342" height="513" alt="\(words.poster)"></div>
            <ol>\(rows.joined(separator: "\n"))</ol>
            """
    }

    /// A link, unless the source's `page` is not a web URL.
    /// The site of a candidate's picture with a link to its page, or its file.
    private func origin(_ candidate: PostersDocument.Candidate) -> String {
        guard let page = candidate.page, WebURL(page) != nil else {
            return (candidate.site ?? candidate.page ?? candidate.name).html
        }
        return "<a href=\"\(page.html)\" rel=\"noreferrer noopener\">\((candidate.site ?? candidate.name).html)</a>"
    }
}
