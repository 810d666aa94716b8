import Foundation
import XCTest

/// The page in a real browser, as people use it: lists, titles and posters.
final class ConsoleTests: ConsoleTestCase {
    func testThatEachViewIsCleanInEachSizeThemeAndLanguage() async throws {
        // Given a server, and browsers: a wide English one in light mode and a narrow Korean one in dark mode
        let (url, browser) = try await start()
        let looks = [
            Browser.Look(), Browser.Look(width: 320, height: 640, isDark: true, language: "ko-KR"),
        ]
        for view in [
            "/", "/?source=sample&date=2026-11-20", "/?source=sample&title=1", "/?source=art&posters=film", "/?source=art",
            "/?source=sample&query=salt", "/?view=figures", "/?view=sources", "/?view=explain",
            "/?view=explain&url=/t/p/w342/sample/1",
            "/?view=try&of=sample://1&options=rt:fill/w:60/h:90&format=png",
        ] {
            for look in looks {
                // When a view is opened
                try await browser.open(url + view, look, until: ConsoleTestCase.settled)
                // Then it logs nothing, requests nothing from elsewhere, fits the screen and has no layout shifts
                let context = "\(view) \(look.width)"
                XCTAssertEqual(browser.messages(), [], context)
                let requests = browser.requests()
                XCTAssertEqual(requests.filter { !$0.hasPrefix(url) }, [], context)
                XCTAssertGreaterThan(requests.count, 1, context)
                let width = try await browser.evaluate("document.documentElement.scrollWidth")
                XCTAssertEqual(width, "\(look.width)", context)
                let shift = try await browser.evaluate("window.shift")
                XCTAssertLessThanOrEqual(Double(shift) ?? 9, 0.02, context)
                // And it is in the reader's language and colours
                let language = try await browser.evaluate("document.documentElement.lang")
                XCTAssertEqual(language, look.isDark ? "ko" : "en", context)
                let light = try await browser.evaluate(
                    "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g)[0] > 128")
                XCTAssertEqual(light, look.isDark ? "false" : "true", context)
                try await assertAccessible(browser, context)
            }
        }
    }

    func testThatTheLayoutIsRememberedAndDaysAreChosenByKeyboard() async throws {
        // Given the list of a day
        let (url, browser) = try await join()
        try await browser.open("\(url)/?source=sample&date=2026-11-20", until: ConsoleTestCase.settled)
        try await browser.wait("document.querySelector('ol.wall li')")
        // When the rows view is chosen and an arrow key is pressed
        _ = try await browser.evaluate("document.getElementById('as-list').click()")
        try await browser.press("ArrowLeft")
        // Then it shows the previous day as rows
        try await browser.wait(
            "document.querySelector('#date time')?.dateTime === '2026-11-19' && document.querySelector('ol.list li')")
        // When the calendar is opened, and a day of the previous month is chosen with the keyboard
        _ = try await browser.evaluate("document.getElementById('date').focus()")
        try await browser.press("Enter")
        try await browser.wait("document.activeElement.dataset.day === '2026-11-19'")
        try await browser.press("PageUp")
        try await browser.press("ArrowUp")
        try await browser.press("ArrowRight")
        try await browser.wait("document.activeElement.dataset.day === '2026-10-13'")
        try await browser.press("Enter")
        // Then it shows that day, and Back leads to the previous one
        try await browser.wait(
            "document.querySelector('#date time')?.dateTime === '2026-10-13' && document.querySelector('ol.list li')")
        _ = try await browser.evaluate("history.back()")
        try await browser.wait("document.querySelector('#date time')?.dateTime === '2026-11-19'")
        XCTAssertEqual(browser.messages(), [])
    }

    func testDisabledButtonsSayWhy() async throws {
        // Given candidates before signing in, in the room of a phone
        let (url, browser) = try await join()
        let phone = Browser.Look(width: 375, height: 700)
        try await browser.open(
            "\(url)/?source=art&posters=film", phone, until: "document.querySelectorAll('.candidate .frame.there').length > 1")
        // Then each has one row, with its words beside its picture
        let beside = try await browser.evaluate(
            """
            [...document.querySelectorAll('.candidate')].every((each) => each.offsetHeight < 300
              && each.querySelector('.words').getBoundingClientRect().left >= each.querySelector('.frame').getBoundingClientRect().right)
            """)
        XCTAssertEqual(beside, "true")
        // And its buttons say why they cannot be pressed
        let reasons = try await browser.evaluate(Self.reasons)
        XCTAssertEqual(reasons, "Sign in to decide")
        // And so do the arrows at the end of the days, and those of the calendar
        try await browser.open("\(url)/?source=sample", until: "document.getElementById('later')")
        let end = try await browser.evaluate("document.getElementById('later').title")
        XCTAssertTrue(end.hasPrefix("The lists end on "), end)
        _ = try await browser.evaluate("document.getElementById('date').click()")
        try await browser.wait("document.querySelector('dialog.calendar button:disabled')")
        let days = try await browser.evaluate(Self.reasons)
        XCTAssertEqual(days, end)
    }

    /// The reasons that disabled buttons have, each once.
    private static let reasons = "[...new Set([...document.querySelectorAll('button:disabled')].map((each) => each.title))].join()"

    func testThatASearchFindsAndTheListGoesOn() async throws {
        // Given the whole catalogue, with more than one page
        let (url, browser) = try await join()
        try await browser.open("\(url)/?source=sample", until: ConsoleTestCase.settled)
        let first = try await browser.evaluate("document.querySelectorAll('#titles li').length")
        XCTAssertGreaterThanOrEqual(Int(first) ?? 0, 12)
        // When the reader scrolls to its end
        try await browser.wait("(scrollTo(0, document.body.scrollHeight), document.querySelectorAll('#titles li').length > 12)")
        // Then there are more titles, each once
        let twice = try await browser.evaluate(
            "(() => { const all = [...document.querySelectorAll('#titles li a')].map((a) => a.href); return all.length - new Set(all).size })()"
        )
        XCTAssertEqual(twice, "0")
        // When a title is opened and closed again, the list is unchanged
        let count = try await browser.evaluate("document.querySelectorAll('#titles li').length")
        _ = try await browser.evaluate("document.querySelector('#titles li:nth-child(13) a').click()")
        try await browser.wait("document.querySelector('article.title h1')")
        _ = try await browser.evaluate("history.back()")
        try await browser.wait("document.querySelectorAll('#titles li').length >= \(count) && scrollY > 0")
        // When words are searched for
        _ = try await browser.evaluate(
            "(document.querySelector('input[type=search]').value = '소금', document.querySelector('form.search').requestSubmit())")
        // Then the films with that name are shown
        try await browser.wait("document.querySelectorAll('#titles li').length === 2 && document.title.includes('소금')")
        XCTAssertEqual(browser.messages(), [])
    }

    func testThatAReaderComesBackToTheListFromAnyDepth() async throws {
        // Given a list of which a later page is shown
        let (url, browser) = try await join()
        try await browser.open("\(url)/?source=sample", until: ConsoleTestCase.settled)
        try await browser.wait("(scrollTo(0, document.body.scrollHeight), document.querySelectorAll('#titles li').length > 12)")
        // When a reader opens a title and its posters, goes back to the title, and then back to the list
        _ = try await browser.evaluate(
            "((link) => (link.focus(), link.click()))(document.querySelector('#titles li:nth-child(13) a'))")
        try await browser.wait("document.querySelector('article.title h1')")
        _ = try await browser.evaluate("document.querySelector('.actions a').click()")
        try await browser.wait("document.querySelector('.candidate')")
        _ = try await browser.evaluate("document.querySelector('.way a').click()")
        try await browser.wait("document.querySelector('article.title h1')")
        _ = try await browser.evaluate("document.querySelector('.way a').click()")
        // Then the list is shown as it was left, and the title's link has the focus again
        try await browser.wait("document.querySelectorAll('#titles li').length > 12 && scrollY > 0")
        try await browser.wait("document.activeElement === document.querySelector('#titles li:nth-child(13) a')")
        // And a title whose address was opened leads to the list too
        try await browser.open("\(url)/?source=sample&title=1", until: "document.querySelector('article.title h1')")
        _ = try await browser.evaluate("document.querySelector('.way a').click()")
        try await browser.wait("document.querySelectorAll('#titles li').length >= 12")
        XCTAssertEqual(browser.messages(), [])
    }

    func testThatAPosterIsPinnedAndTakenBackByTheAdministratorAlone() async throws {
        // Given a title with two pictures
        let (url, browser) = try await start()
        try await browser.open("\(url)/?source=art&posters=film", until: ConsoleTestCase.settled)
        try await browser.wait("document.querySelectorAll('.candidate .frame.there').length === 2")
        // Then the text at the sign-in names what the buttons do
        let help = try await browser.evaluate("document.querySelector('#sign-in p').innerText")
        let buttons = try await browser.evaluate(
            "[...document.querySelectorAll('.candidate:first-child button')].map((button) => button.innerText).join()")
        XCTAssertEqual(buttons, "Pin,Reject")
        XCTAssertTrue(help.contains("pin or reject"), help)
        // When the administrator does not sign in, or uses a wrong token
        _ = try await browser.evaluate("document.getElementById('sign-in').requestSubmit()")
        try await browser.wait("document.querySelector('.outcome').textContent.includes('No token was given')")
        // Its answer comes late: nothing that is drawn meanwhile takes the token for a right one
        _ = try await browser.evaluate(
            """
            (window.realFetch = window.fetch, window.fetch = async (path, ...rest) => {
              if (String(path).includes('/blocked/')) await new Promise((resolve) => { window.goOn = resolve; });
              return window.realFetch(path, ...rest);
            }, document.getElementById('token').value = 'wrong', document.getElementById('sign-in').requestSubmit(), 'sent')
            """)
        try await browser.wait("window.goOn")
        let kept = try await browser.evaluate("String(sessionStorage.getItem('token'))")
        XCTAssertEqual(kept, "null")
        _ = try await browser.evaluate("(window.goOn(), window.fetch = window.realFetch, 'gone on')")
        try await browser.wait("document.querySelector('.outcome').textContent.includes('The token is not the one')")
        let disabled = try await browser.evaluate("document.querySelector('[data-order=pin]').disabled")
        XCTAssertEqual(disabled, "true")
        // Then the page names the problem. With the right token, the other picture can be pinned and unpinned
        _ = try await browser.evaluate(
            "(document.getElementById('token').value = 'secret-for-tests', document.getElementById('sign-in').requestSubmit())")
        try await browser.wait("document.querySelector('[data-order=forget]')")
        _ = try await browser.evaluate("document.querySelectorAll('[data-order=pin]')[1].click()")
        try await browser.wait(
            "document.querySelectorAll('.candidate')[1].dataset.state === 'pinned' && document.getElementById('undo')")
        _ = try await browser.evaluate("document.getElementById('undo').click()")
        try await browser.wait("!document.querySelector('.candidate[data-state=pinned]')")
        // And rejecting works too
        _ = try await browser.evaluate("document.querySelectorAll('[data-order=reject]')[0].click()")
        try await browser.wait("document.querySelectorAll('.candidate')[0].dataset.state === 'rejected'")
    }

    func testThatAFailureSaysWhyWhatToDoAndWhichRequestItWas() async throws {
        let (url, browser) = try await join()
        try await browser.open("\(url)/?source=elsewhere", until: ConsoleTestCase.settled)
        try await browser.wait("document.querySelector('.notice[role=alert]')")
        let text = try await browser.evaluate("document.querySelector('.notice').innerText")
        XCTAssertTrue(text.contains("Unknown source “elsewhere”"), text)
        XCTAssertTrue(text.contains("It may have been removed"), text)
        XCTAssertTrue(text.contains("Request") && text.contains("Try again"), text)
    }

    func testThatThePageCanBeLookedAtWithoutScripts() async throws {
        // Given a browser without scripts
        let (url, browser) = try await join()
        let look = Browser.Look(width: 320, height: 640, runsScripts: false)
        // When the page is opened
        try await browser.open(
            "\(url)/?source=sample", look, until: "location.search.includes('plain') && document.images.length === 12")
        // Then the wall is shown, fits the screen, and has links
        let width = try await browser.evaluate("document.documentElement.scrollWidth")
        XCTAssertEqual(width, "320")
        let over = try await browser.evaluate(
            "[...document.querySelectorAll('.card a')].filter((card) => card.scrollWidth > card.clientWidth + 1).length")
        XCTAssertEqual(over, "0")
        let next = try await browser.evaluate("document.querySelector('.more a').getAttribute('href')")
        XCTAssertTrue(next.contains("page=2"), next)
        XCTAssertEqual(browser.messages(), [])
        // The browser's own icon in the field for the day is a data URL.
        XCTAssertEqual(browser.requests().filter { !$0.hasPrefix(url) && !$0.hasPrefix("data:") }, [])
    }
}
