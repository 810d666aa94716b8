import Foundation
import NIOCore
import OnesheetAddress
import OnesheetConsole
import XCTest

/// The files of the page, their addresses, and the page without scripts.
final class ConsoleServingTests: ServerTestCase {
    func testThatThePageHasTheSizesOfTheServer() throws {
        let script = try XCTUnwrap(ConsoleAsset.all["poster.js"].map { String(decoding: $0.bytes, as: UTF8.self) })
        XCTAssertTrue(script.contains("export const widths = \(SizeLadder.widths);"))
    }

    func testThatThePageLoadsNothingButItsOwnFiles() async throws {
        // Given a server
        let server = try await server()
        // When the page is requested
        let page = try await server.send("/")
        // Then all its files exist and may be cached without limit, and it references no others
        XCTAssertEqual(page.field("Content-Type"), "text/html; charset=utf-8")
        XCTAssertEqual(page.field("Cache-Control"), "no-cache")
        let addresses = page.text.matches(of: /(?:href|src)="([^"]+)"/).map { String($0.1) }
        XCTAssertGreaterThan(addresses.count, 5)
        for address in addresses where address.hasSuffix(".js") || address.hasSuffix(".css") || address.hasSuffix(".svg") {
            XCTAssertTrue(address.hasPrefix(ConsoleAsset.folder), address)
            let file = try await server.send(address)
            XCTAssertEqual(file.status, 200, address)
            XCTAssertEqual(file.field("Cache-Control"), "public, max-age=31536000, immutable", address)
            XCTAssertEqual(file.field("X-Content-Type-Options"), "nosniff", address)
            XCTAssertGreaterThan(file.body.readableBytes, 100, address)
        }
        // And its policy forbids inline code
        let policy = try XCTUnwrap(page.field("Content-Security-Policy"))
        XCTAssertTrue(policy.contains("script-src 'self'") && !policy.contains("unsafe"), policy)
        XCTAssertFalse(page.text.contains("<style") || page.text.contains(" style="), page.text)
    }

    func testThatEveryModuleImportsWhatIsThere() async throws {
        let server = try await server()
        for asset in ConsoleAsset.all.values where asset.name.hasSuffix(".js") {
            let text = String(decoding: asset.bytes, as: UTF8.self)
            for name in text.matches(of: /(?:from|import\()\s*"\.\/([^"]+)"/).map({ String($0.1) }) {
                let file = try await server.send(ConsoleAsset.folder + name)
                XCTAssertEqual(file.field("Content-Type"), "text/javascript; charset=utf-8", "\(asset.name) imports \(name)")
            }
        }
    }

    func testThatAnotherFingerprintIsNotFound() async throws {
        let server = try await server()
        for path in [
            "/console/", "/console/0000/main.js", ConsoleAsset.folder, ConsoleAsset.folder + "nothing.js",
            ConsoleAsset.folder + "../main.js",
        ] {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 404, path)
        }
    }

    func testThatTheFirstViewIsSmall() throws {
        // Given what the page names, and what that imports at once
        var names: Set<String> = []
        var waiting = ["index.html"]
        while let name = waiting.popLast() {
            let asset = try XCTUnwrap(ConsoleAsset.all[name], name)
            guard names.insert(name).inserted else { continue }
            let text = String(decoding: asset.bytes, as: UTF8.self)
            waiting += text.matches(of: /\{folder\}([a-z.-]+)"/).map { String($0.1) }
            waiting += text.matches(of: /^import [^"]*"\.\/([^"]+)"/.anchorsMatchLineEndings()).map { String($0.1) }
        }
        // Then all files together are small, even without compression
        let bytes = names.reduce(0) { $0 + (ConsoleAsset.all[$1]?.bytes.count ?? 0) }
        XCTAssertLessThan(bytes, 100_000)
        XCTAssertTrue(names.isSuperset(of: ["main.js", "list.js", "words.js", "console.css"]), "\(names)")
        XCTAssertFalse(names.contains("figures.js"), "\(names)")
    }

    func testThatBrowsersGetAnIconBesideOtherAnswers() async throws {
        let server = try await server()
        let icon = try await server.send("/favicon.ico")
        XCTAssertEqual(icon.status, 200)
        XCTAssertEqual(icon.field("Content-Type"), "image/svg+xml")
    }

    func testThatThePageWithoutScriptsShowsTheWallTheTitleAndTheNextPage() async throws {
        // Given a server, and a page with links to its version without scripts
        let server = try await server()
        let page = try await server.send("/?source=sample&date=2026-11-20")
        XCTAssertTrue(page.text.contains("url=/?plain&amp;source=sample&amp;date=2026-11-20"), page.text)
        // When that version and its links are requested
        let wall = try await server.send("/?plain&source=sample&date=2026-11-20", fields: [("Accept-Language", "ko, en;q=0.5")])
        let next = try await server.send("/?plain&source=sample&date=2026-11-20&page=2")
        let title = try await server.send("/?plain&source=sample&title=1")
        let unknown = try await server.send("/?plain&source=elsewhere")
        // Then everything is readable, in the reader's language
        XCTAssertTrue(wall.text.contains("<html lang=\"ko\">") && wall.text.contains("src=\"/t/p/w342/sample/"), wall.text)
        XCTAssertTrue(wall.text.contains("date=2026-11-20&amp;page=2\">다음 페이지"), wall.text)
        XCTAssertTrue(next.text.contains("Previous page"), next.text)
        XCTAssertTrue(
            title.text.contains("<h1>The Lighthouse of Salt</h1>") && title.text.contains("/t/p/original/sample/1"), title.text)
        XCTAssertTrue(unknown.text.contains("Unknown source “elsewhere”"), unknown.text)
        XCTAssertEqual([wall.status, next.status, title.status, unknown.status], [200, 200, 200, 404])
    }

    func testThatThePageWithoutScriptsHasTheStatusOfItsProblem() async throws {
        // Given a source that works, and a source whose program ends at once
        let server = try await server(
            sources: "sample: { type: sample }\ncrash: { type: exec, command: [sh, -c, 'exit 3'] }")
        for (query, status, words) in [
            ("source=elsewhere", 404, "Unknown source “elsewhere”"), ("source=sample&title=missing", 404, "missing"),
            ("source=sample&posters=missing", 404, "missing"), ("source=sample&date=tomorrow", 400, "tomorrow"),
            ("source=sample&page=01", 400, "page"), ("source=crash", 502, "the program ended with status 3"),
        ] {
            // When a view that fails is requested
            let answer = try await server.send("/?plain&\(query)")
            // Then it is a page that explains the problem, with its status, and caches do not store it
            XCTAssertEqual(answer.status, status, query)
            XCTAssertEqual(answer.field("Content-Type"), "text/html; charset=utf-8", query)
            XCTAssertEqual(answer.field("Cache-Control"), "no-store", query)
            XCTAssertNotNil(answer.field("Content-Security-Policy"), query)
            XCTAssertTrue(answer.text.contains(words), "\(query) \(answer.text)")
            XCTAssertEqual(answer.field("Retry-After"), status == 502 ? "10" : nil, query)
        }
    }

    func testThatThePageWithoutScriptsHasLabelsAndNamesTheViewsThatNeedScripts() async throws {
        // Given a list without scripts
        let server = try await server()
        let wall = try await server.send("/?plain&source=sample&date=2026-11-20")
        // Then each control has a label, and the day has the bounds of the source
        let controls = wall.text.matches(of: /<(?:input type="(?:search|date)"|select) id="(\w+)"/).map { String($0.1) }
        XCTAssertEqual(controls.sorted(), ["date", "query"])
        for control in controls { XCTAssertTrue(wall.text.contains("<label for=\"\(control)\">"), control) }
        XCTAssertTrue(wall.text.contains("value=\"2026-11-20\"") && wall.text.contains("<h1>Showing on 2026-11-20</h1>"), wall.text)
        XCTAssertTrue(wall.text.contains("Figures and Sources need scripts"), wall.text)
        // And each other view says that it needs scripts, with its address
        for view in ["try", "explain", "figures", "sources"] {
            let answer = try await server.send("/?plain&view=\(view)&of=%22%3E")
            XCTAssertEqual(answer.status, 200, view)
            XCTAssertTrue(answer.text.contains("This view needs scripts"), answer.text)
            XCTAssertTrue(answer.text.contains("href=\"/?view=\(view)&amp;of=%22%3E\""), answer.text)
        }
        // And candidates have their pictures
        let posters = try await server.send("/?plain&source=sample&posters=1")
        XCTAssertTrue(posters.text.contains("src=\"/sources/sample/titles/1/posters/1\""), posters.text)
    }

    func testThatThePageWithoutScriptsHasTheReadersNameFirst() async throws {
        let server = try await server()
        for (language, name) in [
            ("en", "<h1>The Lighthouse of Salt</h1>"), ("ko", "<p class=\"original\" lang=\"en\">The Lighthouse of Salt</p>"),
        ] {
            let title = try await server.send("/?plain&source=sample&title=1", fields: [("Accept-Language", language)])
            XCTAssertTrue(title.text.contains(name), title.text)
        }
    }

    func testThatABrowserGetsAPageForAnUnknownPathAndAProgramAProblem() async throws {
        // Given the `Accept` fields of a browser and of programs
        let server = try await server()
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8"
        // When they ask for an unknown path
        let page = try await server.send("/nothing%3Cb%3E", fields: [("Accept", browser), ("Accept-Language", "ko")])
        // Then the browser gets a page with a link to the list
        XCTAssertEqual(page.status, 404)
        XCTAssertEqual(page.field("Content-Type"), "text/html; charset=utf-8")
        XCTAssertEqual(page.field("Cache-Control"), "no-store")
        XCTAssertNotNil(page.field("Content-Security-Policy"))
        XCTAssertTrue(page.text.contains("<html lang=\"ko\">") && page.text.contains("<a href=\"/\">현재 상영작</a>"), page.text)
        XCTAssertTrue(page.text.contains("There is nothing at /nothing"), page.text)
        XCTAssertFalse(page.text.contains("<b>"), page.text)
        for accept in ["*/*", "application/json", "image/avif,image/webp,*/*", "text/html;q=0,*/*", "text/htmlx"] {
            let problem = try await server.send("/nothing", fields: [("Accept", accept)])
            assertProblem(problem, 404, "there is nothing at /nothing")
        }
        // And other problems stay documents for browsers too
        assertProblem(try await server.send("/sources/elsewhere/titles", fields: [("Accept", browser)]), 404, "unknown source")
    }

    func testThatSourcesSayWhatTheyCanBeAskedFor() async throws {
        let server = try await server(sources: "sample: { type: sample }\nweb: { type: remote, allow: [\"https://a.example/\"] }")
        let document = try await server.send("/sources").json()
        let sources = try XCTUnwrap(document["sources"] as? [[String: Any]])
        XCTAssertEqual(sources.map { $0["hasLists"] as? Bool }, [true, false])
        XCTAssertEqual(sources.map { $0["searches"] as? Bool }, [true, false])
        XCTAssertEqual(sources.map { $0["periods"] as? [String] }, [["day"], []])
        XCTAssertNotNil(sources[0]["firstDay"] as? String)
        XCTAssertNotNil(sources[0]["lastDay"] as? String)
        XCTAssertNil(sources[1]["lastDay"])
    }
}
