import OnesheetAddress
import FoundationEssentials
import Hummingbird
import Logging
import OnesheetCore
import OnesheetPipeline

/// `/`: the sources, and the first one's titles with their posters.
struct PageRoute: Route {
    let prefix = "/"
    /// Sources by name, in the order of the configuration.
    let sources: [(name: String, source: any ContentSource)]
    /// In the same order.
    let watches: [(name: String, watch: SourceWatch)]
    let catalog: Catalog
    let posters: Posters
    let logger: Logger

    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        let source = request.uri.queryParameters["source"].map(String.init) ?? sources.first?.name ?? ""
        let query = try TitleQuery(request.uri)
        let wall: Wall
        do throws(PipelineError) {
            if let id = request.uri.queryParameters["posters"] {
                let title = TitleReference(source: source, id: String(id)).canonical(in: sources)
                wall = .posters(try await posterPage(of: title))
            } else {
                wall = .titles(try await catalog.titles(of: source, query).titles)
            }
        } catch {
            wall = .problem(error.description)
        }
        let health = watches.map { ($0.name, $0.watch.health) }
        let page = Page(sources: health, source: source, wall: wall)
        var response = Response.text(page.html, type: "text/html; charset=utf-8")
        response.headers[.contentSecurityPolicy] = PosterPage.policy
        return response
    }

    private func posterPage(of title: TitleReference) async throws(PipelineError) -> PosterPage {
        do {
            return PosterPage(
                title: title,
                posters: PostersDocument(
                    try await posters.choice(of: title), try await posters.current(title)))
        } catch let error as PipelineError {
            throw error
        } catch {
            logger.error("the choice of a poster cannot be read: \(error)")
            throw .noPoster(title)
        }
    }
}

/// What the page shows of a source.
enum Wall {
    case titles([Title])
    case posters(PosterPage)
    case problem(String)
}

/// The page in HTML.
struct Page {
    let sources: [(name: String, health: SourceHealth)]
    let source: String
    let wall: Wall

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Onesheet</title>
        <style>\(Self.style)</style>
        <header>
          <h1>Onesheet</h1>
          <nav aria-label="Sources · 출처">\(sources.map(link).joined(separator: "\n"))</nav>
        </header>
        <main>\(body)</main>
        <footer><a href="/sources/\(PercentEncoding.encode(source))/titles">JSON</a> <a href="/metrics">Figures · 지표</a></footer>
        </html>
        """
    }

    private var body: String {
        switch wall {
        case .problem(let message): "<p class=\"problem\" role=\"alert\">\(message.html)</p>"
        case .posters(let page): page.html
        case .titles(let titles) where titles.isEmpty: "<p>No titles here. · 작품이 없습니다.</p>"
        case .titles(let titles): "<ol class=\"wall\">\(titles.map(card).joined(separator: "\n"))</ol>"
        }
    }

    private func link(_ name: String, _ health: SourceHealth) -> String {
        let current = name.isExactly(source) ? " aria-current=\"page\"" : ""
        return "<a href=\"/?source=\(PercentEncoding.encode(name))\"\(current)>\(name.html)</a>\(Self.note(health))"
    }

    /// What people should know of a source that does not answer.
    private static func note(_ health: SourceHealth) -> String {
        switch health {
        case .well: ""
        case .failing(let since, let reason):
            "<small class=\"ill\">failing since \(since.formatted(.iso8601)): \(reason.html) · 응답 오류</small>"
        case .exhausted(let until):
            "<small class=\"ill\">quota used up\(until.map { " until \($0.formatted(.iso8601))" } ?? "") · 사용 한도 소진</small>"
        }
    }

    private func card(_ title: Title) -> String {
        let source = PercentEncoding.encode(source)
        let path = "\(source)/\(PercentEncoding.encode(id: title.id))"
        let original = title.originalName.map { "<i>\($0.html)</i>" } ?? ""
        let details = [title.rank.map { "#\($0)" }, title.releaseDate.map { "\($0)" }].compactMap { $0 }.joined(separator: " · ")
        return """
            <li><a href="/t/p/original/\(path)">
              <img src="/t/p/w185/\(path).jpg" srcset="/t/p/w342/\(path).jpg 2x" width="185" height="278" loading="lazy" alt="">
              <b>\(title.name.html)</b>\(original)<small>\(details)</small>
            </a><a class="another" href="/?source=\(source)&amp;posters=\(PercentEncoding.encode(title.id))">Find another poster · 다른 포스터</a></li>
            """
    }

    private static let style = """
        :root { color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif; }
        body { margin: 0 auto; max-width: 76rem; padding: 1rem; }
        header { display: flex; align-items: baseline; gap: 1.5rem; flex-wrap: wrap; }
        nav a, footer a { margin-right: .75rem; }
        nav a[aria-current] { font-weight: bold; text-decoration: none; color: inherit; }
        .wall { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: 1.25rem; list-style: none; padding: 0; }
        .wall a { color: inherit; text-decoration: none; display: block; }
        .wall img { width: 100%; height: auto; aspect-ratio: 2 / 3; object-fit: cover; border-radius: .4rem; background: #8883; display: block; }
        .wall b { display: block; margin-top: .4rem; }
        .wall i { display: block; font-style: normal; }
        small { opacity: .7; }
        nav .ill { margin-right: .75rem; }
        .wall .another { font-size: .75rem; opacity: .7; text-decoration: underline; }
        .current { border-radius: .4rem; max-width: 100%; height: auto; }
        table { border-collapse: collapse; } td, th { padding: .3rem .6rem; text-align: left; border-bottom: 1px solid #8884; }
        .problem { padding: 1rem; border-left: .3rem solid #c33; background: #c331; }
        """
}

extension String {
    /// With the characters that mean something in HTML replaced, whatever stands around them: a mark before `<` that makes one character
    /// of both for people does not for a browser.
    var html: String {
        var html = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "&": html.append(contentsOf: "&amp;".unicodeScalars)
            case "<": html.append(contentsOf: "&lt;".unicodeScalars)
            case ">": html.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": html.append(contentsOf: "&quot;".unicodeScalars)
            case "'": html.append(contentsOf: "&#39;".unicodeScalars)
            default: html.append(scalar)
            }
        }
        return String(html)
    }
}
