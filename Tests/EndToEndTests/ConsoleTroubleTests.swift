import Foundation
import XCTest

/// The page in a real browser when things go wrong, are many, or come by keyboard alone.
final class ConsoleTroubleTests: ConsoleTestCase {
    func testThatAFailingSourceSaysWhyAndSinceWhen() async throws {
        // Given a source whose service is out of order
        let failing = try program("failing", answering: "\"code\":-32004,\"message\":\"the service sleeps\"")
        let (url, browser) = try await start(sources: "failing: { type: exec, command: [sh, \(failing)] }")
        for look in [Browser.Look(), Browser.Look(width: 320, height: 640, isDark: true)] {
            // When its list is opened
            try await browser.open("\(url)/?source=failing", look, until: "document.querySelector('.notice[role=alert]')")
            // Then it says why, and what to do
            let text = try await browser.evaluate("document.querySelector('.notice').innerText")
            XCTAssertTrue(text.contains("Details") && text.contains("Try again"), text)
            let reason = try await browser.evaluate("document.querySelector('.notice details').textContent")
            XCTAssertTrue(reason.contains("the program says so"), reason)
            XCTAssertFalse(reason.contains("sleeps"), "visitors read no words of a program")
            let width = try await browser.evaluate("document.documentElement.scrollWidth")
            XCTAssertEqual(width, "\(look.width)")
            try await assertAccessible(browser, "failing \(look.width)")
        }
        // And the other views know it
        for view in ["figures", "sources"] {
            try await browser.open("\(url)/?view=\(view)", until: Self.settled)
            try await browser.wait("document.querySelector('.card-box .alarm')?.textContent.includes('the program says so')")
            XCTAssertEqual(browser.messages(), [])
        }
    }

    func testThatAUsedUpQuotaSaysWhenItIsFullAgain() async throws {
        // Given a source whose quota is used up until some day
        let exhausted = try program(
            "exhausted", answering: "\"code\":-32003,\"message\":\"enough\",\"data\":{\"until\":4102444800}")
        let (url, browser) = try await start(
            sources: """
                tired: { type: exec, command: [sh, \(exhausted)] }
                  posters: { type: kakao, key: any, quota: { perDay: 1000, reserve: 0.1 } }
                """)
        // When its list is opened
        try await browser.open("\(url)/?source=tired", until: "document.querySelector('.notice[role=alert]')")
        let text = try await browser.evaluate("document.querySelector('.notice').textContent")
        // Then it says so
        XCTAssertTrue(text.contains("Quota used up") && text.contains("2100-01-01"), text)
        // And what is spent of one that is counted, what is kept for people, and when it is full again
        try await browser.open("\(url)/?view=figures", until: Self.settled)
        try await browser.wait("document.querySelector('[data-quota=kakao] meter')")
        let quota = try await browser.evaluate("document.querySelector('[data-quota=kakao]').innerText")
        XCTAssertTrue(quota.contains("0 / 1,000") && quota.contains("100") && quota.contains("Resets"), quota)
        try await assertClean(browser, width: 1280, "quota")
    }

    func testThatAFolderOfManyFilesWithLongNamesAndBrokenPicturesIsShown() async throws {
        // Given 200 files with names that are as long as they may be, every tenth of which is no picture
        let many = folder.appending(path: "many")
        try FileManager.default.createDirectory(at: many, withIntermediateDirectories: true)
        let (url, browser) = try await start(
            sources: "many: { type: folder, path: many }", keys: "clients: { perAddress: { misses: 0 } }")
        let picture = try await WebAnswer.to("\(url)/t/p/w92/sample/1.jpg").body
        for number in 0..<200 {
            let isLatin = number.isMultiple(of: 2)
            let name =
                String(format: "%03d_", number) + String(repeating: isLatin ? "WithoutAnySpace" : "긴이름", count: isLatin ? 14 : 20)
            try (number % 10 == 9 ? Data("no picture".utf8) : picture).write(to: many.appending(path: "\(name).jpg"))
        }
        for look in [Browser.Look(), Browser.Look(width: 320, height: 640, language: "ko-KR")] {
            // When a reader scrolls to the end
            try await browser.open("\(url)/?source=many", look, until: Self.settled)
            try await browser.wait(
                "(scrollTo(0, document.body.scrollHeight), document.querySelectorAll('#titles li').length === 200)")
            // Then each is there once, broken ones say so, and nothing is wider than the screen
            try await browser.wait(
                """
                ((broken) => (broken.scrollIntoView(), broken.querySelector(".missing")))(document.querySelectorAll("#titles li")[9])
                """)
            let width = try await browser.evaluate("document.documentElement.scrollWidth")
            XCTAssertEqual(width, "\(look.width)")
            let over = try await browser.evaluate(
                "[...document.querySelectorAll('#titles li')].filter((item) => item.scrollWidth > item.clientWidth + 1).length")
            XCTAssertEqual(over, "0")
            try await assertAccessible(browser, "many \(look.width)")
        }
    }

    func testThatWallTitleAndPostersAreUsedByKeyboardAlone() async throws {
        // Given the wall
        let (url, browser) = try await start()
        try await browser.open("\(url)/?source=art", until: Self.settled)
        try await browser.wait("document.querySelector('#titles li a')")
        // When the first title is reached with Tab, and opened with Enter
        try await tab(browser, to: "document.activeElement.closest('#titles li')")
        let outline = try await browser.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        XCTAssertNotEqual(outline, "none")
        let ring = try await browser.evaluate(
            "((ring) => ring.zIndex === '1' && ring.boxShadow.includes('inset'))(getComputedStyle(document.activeElement, '::after'))"
        )
        XCTAssertEqual(ring, "true", "the ring is in front of the poster")
        try await browser.press("Enter")
        // Then the title has the focus at its heading
        try await browser.wait("document.activeElement.matches('article.title h1')")
        // When the reader goes back, then the link has the focus again, and opens the title again
        _ = try await browser.evaluate("history.back()")
        try await browser.wait("document.activeElement.closest('#titles li')")
        try await browser.press("Enter")
        try await browser.wait("document.activeElement.matches('article.title h1')")
        // When “Find another poster” is reached and opened
        try await tab(browser, to: "document.activeElement.search?.includes('posters=')")
        try await browser.press("Enter")
        try await browser.wait("document.activeElement.matches('h1') && document.querySelectorAll('.candidate').length === 2")
        // And the administrator signs in and pins the second candidate
        try await tab(browser, to: "document.activeElement.id === 'token'")
        try await browser.send("Input.insertText", ["text": "secret-for-tests"])
        try await browser.press("Enter")
        try await browser.wait("document.querySelector('[data-order=leave]')")
        try await tab(
            browser,
            to: "document.activeElement.closest('.candidate:nth-child(2)') && document.activeElement.dataset.order === 'pin'")
        try await browser.press("Enter")
        // Then it is pinned, and can be taken back
        try await browser.wait("document.querySelectorAll('.candidate')[1].dataset.state === 'pinned'")
        try await tab(browser, to: "document.activeElement.id === 'undo'")
        try await browser.press("Enter")
        try await browser.wait("!document.querySelector('.candidate[data-state=pinned]')")
        XCTAssertEqual(browser.messages(), [])
    }

    func testThatAPictureThatTookTooLongCanBeTriedAgain() async throws {
        // Given a server whose posters take too long
        let (url, browser) = try await join()
        try await browser.refuse("*/t/p/*", with: 504)
        // When the title is opened
        try await browser.open("\(url)/?source=sample&title=1", until: "document.querySelector('.sheet .late button')")
        let text = try await browser.evaluate("document.querySelector('.sheet .late').innerText")
        XCTAssertTrue(text.contains("It took too long"), text)
        // And on the wall, where each poster is a link
        try await browser.open(
            "\(url)/?source=sample", until: "document.querySelector('#titles .late')?.innerText.includes('Refresh')")
        let buttons = try await browser.evaluate("document.querySelectorAll('#titles a button').length")
        XCTAssertEqual(buttons, "0")
        // When the origin answers in time again, and the reader tries again
        try await browser.open("\(url)/?source=sample&title=1", until: "document.querySelector('.sheet .late button')")
        try await browser.refuse("*/t/p/*", with: nil)
        _ = try await browser.evaluate("document.querySelector('.sheet .late button').click()")
        // Then it is there
        try await browser.wait("document.querySelector('.sheet .frame.there') && !document.querySelector('.sheet .late')")
    }

    func testThatAFailedPictureOfATitleSaysWhyAndIsTriedAgain() async throws {
        // Given a host of posters that is out of order
        let (url, browser) = try await join()
        try await browser.refuse("*/t/p/*", with: 502)
        for language in ["ko-KR", "en"] {
            // When a title is opened
            try await browser.open(
                "\(url)/?source=sample&title=1", Browser.Look(language: language),
                until: "document.querySelector('.sheet .missing button')")
            // Then its picture, its sizes and where it comes from say why, in the reader's language
            for place in [".sheet", ".sizes", ".origin"] {
                let text = try await browser.evaluate("document.querySelector('\(place)').innerText")
                let words = language == "en" ? ["The source does not answer.", "Try again"] : ["출처가 응답하지 않습니다.", "다시 시도"]
                XCTAssertTrue(words.allSatisfy(text.contains), "\(place): \(text)")
            }
            // And only the size of the screen was asked for
            let asked = Set(browser.requests().filter { $0.contains("/t/p/") })
            XCTAssertEqual(asked.count, 1, "\(asked)")
        }
        try await assertAccessible(browser, "failed picture")
        // When the host is well again, and the reader tries again
        try await browser.refuse("*/t/p/*", with: nil)
        try await browser.click(".sizes .actions button")
        // Then all is there
        try await browser.wait("document.querySelector('.sheet .frame.there') && !document.querySelector('.sheet .missing')")
        try await browser.wait("document.querySelector('.sizes tbody tr:first-child td:nth-child(3)').innerText.includes('B')")
        try await browser.wait("document.querySelector('.origin dl') && !document.querySelector('.sizes .actions button')")
    }

    func testThatAnErrorIsSaidInTheReadersLanguage() async throws {
        // Given a list that the server refuses in English, with an address of its own
        let (url, browser) = try await join()
        let answer = #"{"title": "Origin failed", "detail": "http://127.0.0.1:1/list is paused for 6 s", "status": 503}"#
        try await browser.refuse("*/titles?*", with: 503, text: answer)
        // When a Korean reader opens it
        try await browser.open(
            "\(url)/?source=sample&date=2026-11-20", Browser.Look(language: "ko-KR"),
            until: "document.querySelector('.notice .reason')")
        // Then the page says it in Korean, and keeps the server's sentence for those who ask
        let reason = try await browser.evaluate("document.querySelector('.notice .reason').innerText")
        XCTAssertEqual(reason, "서버나 출처에 여유가 없습니다.")
        let details = try await browser.evaluate(
            "((details) => `${details.open} ${details.querySelector('[lang=en]').textContent}`)(document.querySelector('.notice details'))"
        )
        XCTAssertEqual(details, "false http://127.0.0.1:1/list is paused for 6 s")
    }

    func testThatAPlaceholderIsThereUntilItsPictureIs() async throws {
        // Given two posters that the server has made, the first of the wall and one further below, and pictures that do not come
        let (url, browser) = try await join()
        try await browser.open("\(url)/?view=sources", until: Self.settled)
        // The folder is new, and the purge that its changes cause may discard what is made at that moment.
        try await browser.wait(
            """
            (await Promise.all([1, 9].map(async (id) => {
              await fetch(`/t/p/w92/sample/${id}.jpg`, { cache: "no-store" });
              return (await (await fetch(`/sources/sample/titles/${id}`)).json()).poster;
            }))).every(Boolean)
            """)
        try await browser.refuse("*/t/p/*", with: 504)
        // When the wall is opened, then both have their placeholders
        try await browser.open("\(url)/?source=sample", until: "document.querySelector('#titles li:nth-child(1) .thumb')")
        try await browser.wait("document.querySelector('#titles li:nth-child(9) .thumb')")
        // When the pictures come
        try await browser.refuse("*/t/p/*", with: nil)
        try await browser.open("\(url)/?source=sample", until: "document.querySelector('#titles li:nth-child(1) .frame.there')")
        try await browser.wait("document.querySelector('#titles li:nth-child(9) .frame.there')")
        // Then the placeholders go
        try await browser.wait("!document.querySelector('#titles .frame.there .thumb')")
        XCTAssertEqual(browser.messages(), [])
    }

    /// Presses Tab until `condition` holds.
    private func tab(_ browser: Browser, to condition: String) async throws {
        for _ in 0..<60 {
            try await browser.press("Tab")
            if try await browser.evaluate("Boolean(\(condition))") == "true" { return }
        }
        XCTFail("Tab never leads to where “\(condition)” holds")
    }

    /// A program that refuses every call with `error`, as the members of a JSON-RPC error.
    private func program(_ name: String, answering error: String) throws -> String {
        let file = folder.appending(path: "\(name).sh")
        let script = """
            while IFS= read -r line; do
                id=${line#'{"id":'}
                id=${id%%,*}
                case $line in
                    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocol":1}}\\n' "$id" ;;
                    *) printf '{"jsonrpc":"2.0","id":%s,"error":{%s}}\\n' "$id" '\(error)' ;;
                esac
            done
            """
        try Data(script.utf8).write(to: file)
        return file.path
    }
}
