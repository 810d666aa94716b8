import Foundation
import XCTest

/// What the page opens on, depending on what the sources have.
final class ConsoleStartTests: ConsoleTestCase {
    func testPageOpensOnTryIfPicturesHaveOnlyURLs() async throws {
        // Given a server whose only source is a site
        let (site, browser) = try await join()
        let url = try await serve("web: { type: remote, allow: [\"\(site)/\"], networks: [loopback] }")
        // When its page is opened, then it asks for a URL, and nothing failed
        for path in ["/", "/?source=web"] {
            try await browser.open(url + path, until: Self.settled)
            let text = try await browser.evaluate("document.querySelector('main').innerText")
            XCTAssertTrue(text.contains("URL of a picture") && text.contains("whole URL of a picture"), text)
            let failed = try await browser.evaluate("document.querySelectorAll('.notice').length")
            XCTAssertEqual(failed, "0", path)
        }
        try await assertClean(browser, width: 1280, "no lists")
        // When a URL is entered, then the page shows its picture
        _ = try await browser.evaluate(
            "((field) => { field.value = '\(site)/t/p/w92/sample/1.png'; field.dispatchEvent(new Event('input', { bubbles: true })); })"
                + "(document.getElementById('try-of'))")
        try await browser.wait("document.querySelector('.made.there img')")
        // And without scripts it says that this view needs them
        let plain = try await WebAnswer.to("\(url)/?plain")
        XCTAssertEqual(plain.status, 200)
        XCTAssertTrue(String(decoding: plain.body, as: UTF8.self).contains("/?view=try"))
    }

    func testPageAsksForAnIDIfTitlesHaveOnlyIDs() async throws {
        // Given a server whose only source has neither lists nor a search, and allows no URLs
        let (_, browser) = try await join()
        let url = try await serve("fanart: { type: rest, manifest: fanart, variables: { key: none } }")
        // When its page is opened, then it asks for an id
        try await browser.open("\(url)/", until: Self.settled)
        let text = try await browser.evaluate("document.querySelector('main').innerText")
        XCTAssertTrue(text.contains("fanart://") && !text.contains("URL of a picture"), text)
        try await assertClean(browser, width: 1280, "only ids")
    }

    func testPageOpensOnTheFirstSourceWithLists() async throws {
        let (site, browser) = try await join()
        let web = "web: { type: remote, allow: [\"\(site)/\"], networks: [loopback] }"
        let url = try await serve(
            web, "films: { type: rest, manifest: omdb, variables: { key: none } }", "sample: { type: sample }")
        try await browser.open("\(url)/", until: "document.querySelector('.chips [aria-current]')")
        let first = try await browser.evaluate("document.querySelector('.chips [aria-current]').innerText")
        XCTAssertEqual(first, "sample")
        let plain = try await WebAnswer.to("\(url)/?plain")
        XCTAssertTrue(String(decoding: plain.body, as: UTF8.self).contains("/t/p/w342/sample/"))
    }

    func testPageOpensOnASearchIfThereAreNoLists() async throws {
        // Given a server whose sources can only be searched, or have only URLs
        let (site, browser) = try await join()
        let url = try await serve(
            "web: { type: remote, allow: [\"\(site)/\"], networks: [loopback] }",
            "films: { type: rest, manifest: omdb, variables: { key: none } }")
        // When its page is opened, then it has a field to search in, and nothing failed
        try await browser.open("\(url)/", until: Self.settled)
        let text = try await browser.evaluate("document.querySelector('main').innerText")
        XCTAssertTrue(text.contains("no lists") && !text.contains("did not work"), text)
        let fields = try await browser.evaluate("document.querySelectorAll('main input[type=search]').length")
        XCTAssertEqual(fields, "1")
        try await assertClean(browser, width: 1280, "only a search")
    }

    func testListsOfTheAdministratorAloneOpenAfterSigningIn() async throws {
        // Given a server whose lists are not public
        let (_, browser) = try await join()
        let url = try await serve(
            "sample: { type: sample }", keys: "admin: { token: secret-for-tests }\npublic: { lists: false }\n")
        try await browser.open("\(url)/", until: Self.settled)
        let closed = try await browser.evaluate("document.querySelectorAll('#titles li').length")
        XCTAssertEqual(closed, "0")
        // When the administrator signs in
        try await browser.open("\(url)/?view=figures", until: "document.getElementById('token')")
        try await signIn(browser)
        // Then the lists open, and the pages of titles
        try await browser.open("\(url)/", until: "document.querySelector('#titles li')")
        try await browser.open("\(url)/?source=sample&title=1", until: "document.querySelector('article.title h1')")
    }
}
