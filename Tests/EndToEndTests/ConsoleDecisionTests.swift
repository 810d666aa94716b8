import Foundation
import XCTest

/// The administrator's decisions about posters on the page: each act once, and the way back.
final class ConsoleDecisionTests: ConsoleTestCase {
    func testThatADoubleClickOnPinOnlyPins() async throws {
        // Given the two candidates of a film
        let browser = try await candidates()
        // When Pin of the second one is clicked twice in quick succession
        try await browser.click(".candidate:nth-child(2) [data-order=pin]", count: 2)
        // Then it is pinned and not rejected, and its buttons are where they were
        try await browser.wait("document.getElementById('undo')")
        try await browser.wait(Self.decision("pinned && decision.rejected.length === 0"))
        let buttons = try await browser.evaluate(
            "[...document.querySelectorAll('.candidate:nth-child(2) [data-order]')].map((button) => button.dataset.order).join()")
        XCTAssertEqual(buttons, "unpin,reject")
    }

    func testThatListsAndTitlesFollowADecisionAtOnce() async throws {
        // Given a list whose picture the browser has, and from there the candidates of the film
        let (url, browser) = try await start()
        try await browser.open("\(url)/?source=art", until: "document.querySelector('#titles .frame.there')")
        try await browser.wait(Self.shows("342x513", in: "#titles"))
        _ = try await browser.evaluate("document.querySelector('#titles a').click()")
        try await browser.wait("document.querySelector('article.title .frame.there')")
        _ = try await browser.evaluate("document.querySelector('.actions a').click()")
        try await browser.wait("document.querySelectorAll('.candidate').length === 2")
        try await signIn(browser)
        // When the other one is pinned, and the reader goes back
        try await browser.click(".candidate:nth-child(2) [data-order=pin]")
        try await browser.wait("document.querySelectorAll('.candidate')[1].dataset.state === 'pinned'")
        _ = try await browser.evaluate("history.back()")
        // Then the title and the list show it
        try await browser.wait("document.querySelector('article.title .frame.there')")
        try await browser.wait(Self.shows("185x278", in: "article.title"))
        _ = try await browser.evaluate("document.querySelector('.way a').click()")
        try await browser.wait("document.querySelector('#titles .frame.there')")
        try await browser.wait(Self.shows("185x278", in: "#titles"))
        // When the pin is undone, then the list shows the first one again, also after it is loaded anew
        try await browser.open(
            "\(url)/?source=art&posters=film", until: "document.querySelector('.candidate:nth-child(2) [data-order=unpin]')")
        try await browser.click(".candidate:nth-child(2) [data-order=unpin]")
        try await browser.wait(Self.decision("pinned === undefined"))
        for _ in 0..<2 {
            try await browser.open("\(url)/?source=art", until: "document.querySelector('#titles .frame.there')")
            try await browser.wait(Self.shows("342x513", in: "#titles"))
        }
        XCTAssertEqual(browser.messages(), [])
    }

    func testThatDecisionsAreTakenBackAfterAReload() async throws {
        // Given a pinned candidate and a rejected one, and the page loaded again
        let browser = try await candidates()
        try await browser.click(".candidate:nth-child(2) [data-order=pin]")
        try await browser.wait("document.querySelectorAll('.candidate')[1].dataset.state === 'pinned'")
        try await browser.click(".candidate:nth-child(1) [data-order=reject]")
        try await browser.wait("document.querySelectorAll('.candidate')[0].dataset.state === 'rejected'")
        let address = try await browser.evaluate("location.href")
        try await browser.open(address, until: "document.querySelector('[data-order=unpin]:enabled')")
        // When the pin is taken back, then the rejection stays, and the focus too
        try await browser.click(".candidate:nth-child(2) [data-order=unpin]")
        try await browser.wait(Self.decision("pinned === undefined && decision.rejected.length === 1"))
        try await browser.wait("document.activeElement.matches('.candidate:nth-child(2) [data-order=pin]')")
        // When the rejection is taken back, then no decision is left
        try await browser.click(".candidate:nth-child(1) [data-order=allow]")
        try await browser.wait(Self.decision("rejected.length === 0"))
        try await browser.wait("!document.querySelector('[data-state=rejected], [data-state=pinned]')")
        try await assertAccessible(browser, "taken back")
    }

    func testThatUndoLeavesADecisionOfAnotherTabAlone() async throws {
        // Given a pin, after which another tab has rejected the other candidate
        let browser = try await candidates()
        try await browser.click(".candidate:nth-child(2) [data-order=pin]")
        try await browser.wait("document.getElementById('undo')")
        let status = try await browser.evaluate(
            """
            await fetch("/sources/art/titles/film/poster", { method: "PUT", headers: { Authorization: "Bearer secret-for-tests" },
              body: '{"reject": 1}' }).then((answer) => answer.status)
            """)
        XCTAssertEqual(status, "200")
        // When the pin is to be undone
        try await browser.click("#undo")
        // Then the page says that somebody has decided otherwise, shows how it is now, and leaves it
        try await browser.wait("document.querySelector('.outcome .notice')?.innerText.includes('Look at how it is now')")
        try await browser.wait("document.querySelectorAll('.candidate')[0].dataset.state === 'rejected'")
        try await browser.wait(Self.decision("pinned && decision.rejected.length === 1"))
        try await assertAccessible(browser, "conflict")
    }

    func testThatForgettingDecisionsSaysWhatIsForgottenAndCanBeUndone() async throws {
        // Given a rejected candidate
        let browser = try await candidates()
        try await browser.click(".candidate:nth-child(1) [data-order=reject]")
        try await browser.wait("document.querySelectorAll('.candidate')[0].dataset.state === 'rejected'")
        // When the decisions are forgotten
        try await browser.click("[data-order=forget]")
        // Then the page says so
        try await browser.wait("document.querySelector('.outcome').innerText.includes('Rejections forgotten: 1')")
        try await browser.wait(Self.decision("rejected.length === 0"))
        // When that is undone, then the rejection is back
        try await browser.click("#undo")
        try await browser.wait("document.querySelectorAll('.candidate')[0].dataset.state === 'rejected'")
        try await browser.wait(Self.decision("rejected.length === 1"))
    }

    func testThatAnOutcomeCoversNoControlAndCanBeClosed() async throws {
        // Given a decision on a narrow screen
        let browser = try await candidates(Browser.Look(width: 320, height: 640))
        try await browser.click(".candidate:nth-child(2) [data-order=pin]")
        try await browser.wait("document.getElementById('undo')")
        // Then every button is on top at its middle
        let covered = try await browser.evaluate(
            """
            [...document.querySelectorAll("main button")].filter((button) => {
              button.scrollIntoView({ block: "center" });
              const { x, y, width, height } = button.getBoundingClientRect();
              return !button.contains(document.elementFromPoint(x + width / 2, y + height / 2));
            }).length
            """)
        XCTAssertEqual(covered, "0")
        // When the outcome is closed, then it is gone
        try await browser.click(".outcome .closes")
        try await browser.wait("!document.querySelector('.outcome').hasChildNodes()")
        try await assertClean(browser, width: 320, "decided")
    }

    func testStripLeadsToTheOtherImagesOfATitle() async throws {
        // Given the candidates for the poster of a film without a logo
        let browser = try await candidates()
        // When its logos are chosen in the strip
        try await browser.click(".chips a:nth-child(4)")
        // Then the address names them, and there is no candidate
        try await browser.wait("document.querySelector('.chips [aria-current]').textContent === 'Logo'")
        try await browser.wait("location.search.includes('image=logo') && !document.querySelector('.candidate')")
        try await assertAccessible(browser, "strip")
        // And the posters are a click away
        try await browser.click(".chips a:nth-child(1)")
        try await browser.wait("!location.search.includes('image=') && document.querySelectorAll('.candidate').length === 2")
    }

    func testTitleHasItsIDsAndItsCandidateTheReasons() async throws {
        // Given a film of a library, whose images another source has
        let film = folder.appending(path: "films/Film")
        try FileManager.default.createDirectory(at: film, withIntermediateDirectories: true)
        let facts = "<movie><title>Film</title><uniqueid type='imdb'>tt1375666</uniqueid></movie>"
        try Data(facts.utf8).write(to: film.appending(path: "movie.nfo"))
        let (url, browser) = try await start(
            sources: "films: { type: folder, path: films, layout: library }\n  all: { type: first, sources: [films] }")
        try await WebAnswer.to("\(url)/t/p/w92/sample/1.jpg").body.write(to: film.appending(path: "poster.jpg"))
        // When a reader looks at it, then its ids are there
        try await browser.open("\(url)/?source=all&title=Film", Browser.Look(), until: Self.settled)
        try await browser.wait("document.querySelector('dl.details')?.textContent.includes('imdb:tt1375666')")
        // And its candidate has the reasons of the rule
        try await browser.open("\(url)/?source=all&posters=Film", Browser.Look(), until: Self.settled)
        try await browser.wait("document.querySelector('.candidate .why')?.textContent.includes('an image of films://Film')")
        try await assertAccessible(browser, "reasons")
    }

    /// A browser with the two candidates of a film and a signed-in administrator.
    private func candidates(_ look: Browser.Look = Browser.Look()) async throws -> Browser {
        let (url, browser) = try await start()
        try await browser.open("\(url)/?source=art&posters=film", look, until: Self.settled)
        try await browser.wait("document.querySelectorAll('.candidate').length === 2")
        try await signIn(browser)
        return browser
    }

    /// A condition on the picture that the browser shows in an element: that it is a variant of an original with as many pixels.
    private static func shows(_ pixels: String, in selector: String) -> String {
        """
        await ((image) => image?.complete && fetch("/t/p/original" + new URL(image.currentSrc).pathname.replace(/^\\/t\\/p\\/\\w+/, "") \
        + new URL(image.currentSrc).search).then((answer) => answer.headers.get("Onesheet-Size") === "\(pixels)")\
        )(document.querySelector("\(selector) .frame.there img"))
        """
    }

    /// A condition on the stored decision about the film's poster.
    private static func decision(_ condition: String) -> String {
        "await fetch('/sources/art/titles/film/posters').then((answer) => answer.json()).then(({ decision }) => decision.\(condition))"
    }
}
