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
        XCTAssertEqual(buttons, "pin,reject")
        // When the reader clicks Pin again, then nothing changes
        try await browser.click(".candidate:nth-child(2) [data-order=pin]")
        try await browser.wait("document.querySelectorAll('.candidate')[1].dataset.state === 'pinned'")
    }

    func testThatUndoLeavesADecisionOfAnotherTabAlone() async throws {
        // Given a pin, after which another tab has rejected the other candidate
        let browser = try await candidates()
        try await browser.click(".candidate:nth-child(2) [data-order=pin]")
        try await browser.wait("document.getElementById('undo')")
        let status = try await browser.evaluate(
            """
            await fetch("/sources/art/titles/film/poster", { method: "PUT", headers: { Authorization: "Bearer secret" },
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

    /// A browser with the two candidates of a film and a signed-in administrator.
    private func candidates(_ look: Browser.Look = Browser.Look()) async throws -> Browser {
        let (url, browser) = try await start()
        try await browser.open("\(url)/?source=art&posters=film", look, until: Self.settled)
        try await browser.wait("document.querySelectorAll('.candidate').length === 2")
        try await signIn(browser)
        return browser
    }

    /// A condition on the stored decision about the film's poster.
    private static func decision(_ condition: String) -> String {
        "await fetch('/sources/art/titles/film/posters').then((answer) => answer.json()).then(({ decision }) => decision.\(condition))"
    }
}
