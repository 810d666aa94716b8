import Foundation
import XCTest

/// The page's lists in a real browser: from day to day, to a title and back, and when something does not come.
final class ConsoleListTests: ConsoleTestCase {
    private let day = "source=sample&date=2026-11-20"

    func testThatQuickClicksOnThePreviousDayAllCount() async throws {
        // Given the list of a day
        let (url, browser) = try await join()
        try await browser.open("\(url)/?\(day)", until: Self.settled)
        // When the reader clicks three times before any list comes
        _ = try await browser.evaluate(
            "[1, 2, 3].forEach(() => (document.getElementById('earlier').focus(), document.getElementById('earlier').click()))")
        // Then it is the list of three days before, and the arrow keeps the focus
        try await browser.wait("location.search.includes('date=2026-11-17')")
        try await browser.wait(
            "document.querySelector('h1').innerText.includes('Nov 17') && document.activeElement.id === 'earlier'")
        let label = try await browser.evaluate("document.querySelector('#date time').dateTime")
        XCTAssertEqual(label, "2026-11-17")
        // And each day is in the history
        _ = try await browser.evaluate("history.back()")
        try await browser.wait("document.querySelector('h1').innerText.includes('Nov 18')")
        XCTAssertEqual(browser.messages(), [])
    }

    func testThatTheHeadingOfAnOldDayNamesTheDay() async throws {
        let (url, browser) = try await join()
        for (view, language, heading) in [
            (day, "en", "Showing on Nov 20, 2026"), (day, "ko", "2026년 11월 20일 상영작"),
            ("source=sample", "en", "Now showing"), ("source=art", "en", "Titles"),
        ] {
            try await browser.open("\(url)/?\(view)", Browser.Look(language: language), until: Self.settled)
            let shown = try await browser.evaluate("document.querySelector('h1').innerText")
            XCTAssertEqual(shown, heading)
        }
    }

    func testThatTheNameInTheReadersLanguageIsFirst() async throws {
        let (url, browser) = try await join()
        for (language, script) in [("en", "Latin"), ("ko", "Hangul")] {
            for (view, name) in [("source=sample", ".name"), ("source=sample&title=1", "h1")] {
                try await browser.open("\(url)/?\(view)", Browser.Look(language: language), until: Self.settled)
                let isFirst = try await browser.evaluate(
                    "/\\p{Script=\(script)}/u.test(document.querySelector('main \(name)').innerText)")
                XCTAssertEqual(isFirst, "true", "\(view) \(language)")
            }
        }
    }

    func testThatALeftListFreesItsConnectionsAndGoesOnLater() async throws {
        // Given a wall whose pictures do not come
        let (url, browser) = try await join()
        try await browser.hold("*/t/p/*")
        try await browser.open("\(url)/?source=sample", until: "document.querySelector('#titles img')")
        _ = try await browser.evaluate("(window.pictures = [...document.querySelectorAll('#titles img')]).length")
        // When a title is opened
        _ = try await browser.evaluate("document.querySelector('#titles a').click()")
        try await browser.wait("document.querySelector('article.title h1')")
        // Then no picture of the wall is still being loaded
        let loading = try await browser.evaluate(
            "window.pictures.filter((picture) => picture.hasAttribute('src') && !picture.complete).length")
        XCTAssertEqual(loading, "0")
        // When the reader goes back, and pictures come again
        _ = try await browser.evaluate("history.back()")
        try await browser.wait("document.querySelector('#titles img[srcset][src]')")
        try await browser.refuse("*/t/p/*", with: nil)
        // Then the wall has them
        try await browser.wait("document.querySelector('#titles .frame.there')")
    }

    func testThatAFailedRefreshKeepsTheList() async throws {
        // Given a list, and a server that fails from now on
        let (url, browser) = try await join()
        try await browser.open("\(url)/?\(day)", until: Self.settled)
        try await browser.wait("document.querySelectorAll('#titles li').length >= 12")
        try await browser.refuse("*/titles?*", with: 503)
        // When it is refreshed
        _ = try await browser.evaluate("document.getElementById('refresh').click()")
        // Then the list stays, with what failed above it
        try await browser.wait("document.querySelector('.outcome .notice')?.innerText.includes('503')")
        let count = try await browser.evaluate("document.querySelectorAll('#titles li').length >= 12")
        XCTAssertEqual(count, "true")
        try await assertAccessible(browser, "refresh")
        // When the server is well again, and the reader tries again, then the notice is gone
        try await browser.refuse("*/titles?*", with: nil)
        _ = try await browser.evaluate("document.querySelector('.outcome .notice .actions button').click()")
        try await browser.wait("!document.querySelector('.notice') && document.querySelectorAll('#titles li').length >= 12")
    }

    func testThatARequestIsGivenUpWithASentenceOfItsOwn() async throws {
        // Given a list, after which the page waits for a moment only, and nothing comes
        let (url, browser) = try await join()
        try await browser.open("\(url)/?\(day)", until: Self.settled)
        _ = try await browser.evaluate(
            "((real) => { AbortSignal.timeout = () => real.call(AbortSignal, 50); })(AbortSignal.timeout)")
        try await browser.hold("*/titles?*")
        _ = try await browser.evaluate("document.getElementById('refresh').click()")
        // Then the page says that it has given up
        try await browser.wait("document.querySelector('.notice')?.innerText.includes('did not answer within 30 seconds')")
        try await browser.refuse("*", with: nil)
    }

    func testThatAnUnreadableAnswerHasASentenceOfItsOwn() async throws {
        let (url, browser) = try await join()
        try await browser.refuse("*/titles?*", with: 200, text: "<!doctype html><title>Sign in</title>")
        try await browser.open("\(url)/?\(day)", until: "document.querySelector('.notice')")
        let text = try await browser.evaluate("document.querySelector('.notice').innerText")
        XCTAssertTrue(text.contains("The answer cannot be read") && text.contains("proxy"), text)
        XCTAssertEqual(browser.messages(), [])
    }

    func testThatARefusedPictureIsNotCalledAMissingPoster() async throws {
        let (url, browser) = try await join()
        for (status, words) in [
            (502, "The source does not answer."), (503, "The server or the source is busy."), (422, "not a usable picture"),
            (404, "No poster"),
        ] {
            try await browser.refuse("*/t/p/*", with: status)
            try await browser.open("\(url)/?source=sample", until: "document.querySelector('#titles .missing')")
            let text = try await browser.evaluate("document.querySelector('#titles .missing').innerText")
            XCTAssertTrue(text.contains(words), "\(status): \(text)")
        }
    }

    func testThatAnUnknownViewOrPeriodIsSaid() async throws {
        let (url, browser) = try await join()
        for (view, words) in [
            ("view=nonsense", "There is no view “nonsense”."), ("source=sample&period=decade", "This list has no period “decade”."),
        ] {
            try await browser.open("\(url)/?\(view)", until: "document.querySelector('main > .notice h1')")
            let text = try await browser.evaluate("document.querySelector('.notice .reason').innerText")
            XCTAssertEqual(text, words)
            try await assertAccessible(browser, view)
        }
    }

    func testThatWhatASearchFindsHasNoRank() async throws {
        // Given a list with ranks
        let (url, browser) = try await join()
        try await browser.open("\(url)/?source=sample", until: "document.querySelector('#titles .rank')")
        // When the reader searches with the button, then what is found has none
        _ = try await browser.evaluate("document.querySelector('input[type=search]').value = '소금'")
        try await browser.click("form.search button")
        try await browser.wait("document.title.includes('소금') && document.querySelector('#titles li')")
        let ranks = try await browser.evaluate("document.querySelectorAll('#titles .rank').length")
        XCTAssertEqual(ranks, "0")
        // When nothing is found, then the heading says so
        _ = try await browser.evaluate(
            "(document.querySelector('input[type=search]').value = 'zzzqqq', document.querySelector('form.search').requestSubmit())"
        )
        try await browser.wait("document.querySelector('h1').innerText === 'Nothing found for “zzzqqq”'")
    }

    func testThatATitleIsOutlinedAtOnce() async throws {
        // Given a list, and a source that does not answer about a title
        let (url, browser) = try await join()
        try await browser.open("\(url)/?source=sample", until: Self.settled)
        let name = try await browser.evaluate("document.querySelector('#titles .name').innerText")
        try await browser.hold("*/sources/sample/titles/*")
        // When the title is opened, then the page shows what the list knows of it
        _ = try await browser.evaluate("document.querySelector('#titles a').click()")
        try await browser.wait("document.querySelector('main[aria-busy] h1')?.innerText === '\(name)'")
        let heading = try await browser.evaluate("document.activeElement.tagName")
        XCTAssertEqual(heading, "H1")
        // When the reader goes back before the answer, then the list is there again
        _ = try await browser.evaluate("history.back()")
        try await browser.wait("document.querySelectorAll('#titles li').length >= 12 && !document.querySelector('main[aria-busy]')")
        try await browser.wait("document.activeElement.closest('#titles li') || document.activeElement.matches('h1')")
        try await browser.refuse("*", with: nil)
    }

    func testThatTheSnippetHasThePixelsOfThePicture() async throws {
        // Given a poster that is smaller than its size in the snippet
        let (url, browser) = try await start()
        try await browser.open("\(url)/?view=sources", until: Self.settled)
        let status = try await browser.evaluate(
            """
            await fetch("/sources/art/titles/film/poster", { method: "PUT", headers: { Authorization: "Bearer secret-for-tests" },
              body: '{"candidate": 2}' }).then((answer) => answer.status)
            """)
        XCTAssertEqual(status, "200")
        // When the title is opened, then the snippet and the table name its pixels
        try await browser.open("\(url)/?source=art&title=film", until: Self.settled)
        try await browser.wait(#"document.querySelector('.snippet code').textContent.includes('width="185" height="278"')"#)
        let pixels = try await browser.evaluate("document.querySelector('.sizes tbody tr:nth-child(4) td').innerText")
        XCTAssertEqual(pixels, "185 × 278")
    }

    func testThatTheSizesOfATitleComeOneAfterTheOther() async throws {
        // Given a smallest size that does not come
        let (url, browser) = try await join()
        try await browser.hold("*/t/p/w92/*")
        // When a title is opened
        try await browser.open("\(url)/?source=sample&title=1", until: "document.querySelector('.sizes tbody tr:last-child')")
        // Then the others come, and where the picture comes from
        try await browser.wait("document.querySelector('.sizes tbody tr:last-child td:nth-child(3)').innerText.includes('B')")
        try await browser.wait("document.querySelector('.sizes tbody tr:nth-child(3) td:nth-child(3)').innerText.includes('B')")
        try await browser.wait("document.querySelector('.origin dl')")
        let first = try await browser.evaluate("document.querySelector('.sizes tbody tr:first-child td:nth-child(3)').innerText")
        XCTAssertEqual(first, "…")
    }

    func testThatBothLanguagesHaveTheSameTextsAndAllThatAreUsed() async throws {
        // Given the page's modules
        let (url, browser) = try await join()
        try await browser.open("\(url)/", until: Self.settled)
        // Then each text is there in both languages, with the same values in it, and each one that a module names exists
        let faults = try await browser.evaluate(
            #"""
            await (async () => {
              const folder = document.querySelector("script[src]").src.replace("main.js", "");
              const { languages, wordsOf } = await import(folder + "words.js");
              await import(folder + "words-tools.js");
              const [first, second] = languages.map(wordsOf);
              const values = (text) => [...new Set((text ?? "").match(/\{\w+\}/g))].sort().join();
              const faults = Object.keys({ ...first, ...second }).filter((key) => !first[key] || !second[key] || values(first[key]) !== values(second[key]));
              const waiting = ["main.js"];
              const seen = new Set();
              while (waiting.length) {
                const name = waiting.pop();
                if (seen.has(name)) continue;
                seen.add(name);
                const text = await (await fetch(folder + name)).text();
                waiting.push(...[...text.matchAll(/"\.\/([\w-]+\.js)"/g)].map((match) => match[1]));
                faults.push(...[...text.matchAll(/\bt\("(\w+)"[,)]/g)].map((match) => match[1]).filter((key) => !first[key]));
              }
              return seen.size > 20 ? faults.join() : "modules are missing: " + [...seen];
            })()
            """#)
        XCTAssertEqual(faults, "")
    }
}
