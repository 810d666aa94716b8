import Foundation
import XCTest

/// The page's tools in a real browser: Try, Explain and Figures.
final class ConsoleToolsTests: ConsoleTestCase {
    func testThatATransformIsTriedWithItsWeightItsTimesAndItsAddresses() async throws {
        // Given a server with dialects
        let (url, browser) = try await start(keys: "dialects: [thumbor, next]")
        // When a reader makes a PNG of 300 by 450
        try await browser.open("\(url)/?view=try&of=sample://1", until: Self.settled)
        try await browser.wait("document.querySelector('.made.there img')")
        for (field, value) in [("resize", "fill"), ("width", "300"), ("height", "450"), ("format", "png")] {
            _ = try await browser.evaluate(Self.fill(field, with: value))
        }
        // Then that is the picture
        try await browser.wait("document.querySelector('.made.there img')?.naturalWidth === 300")
        let height = try await browser.evaluate("document.querySelector('.made.there img').naturalHeight")
        XCTAssertEqual(height, "450")
        // And the page shows its size beside that of the original, the time of each stage, and its addresses
        let facts = try await browser.evaluate("document.querySelector('.weights dl').innerText")
        XCTAssertTrue(facts.contains("PNG, 300 × 450") && facts.contains("Original (JPEG") && facts.contains("%"), facts)
        let stages = try await browser.evaluate("document.querySelector('.weights .waterfall').innerText")
        XCTAssertTrue(stages.contains("ms"), stages)
        let addresses = try await browser.evaluate("document.querySelector('.addresses').innerText")
        XCTAssertTrue(addresses.contains("/i/unsafe/rt:fill/w:300/h:450/plain/sample%3A%2F%2F1@png"), addresses)
        XCTAssertTrue(addresses.contains("/thumbor/unsafe/300x450/filters:format(png):no_upscale()/sample%3A%2F%2F1"), addresses)
        XCTAssertTrue(addresses.contains("not possible"), addresses)
        // And the view has an address of its own
        let address = try await browser.evaluate("location.search")
        XCTAssertTrue(address.contains("format=png"), address)
        try await assertClean(browser, width: 1280, "try")
    }

    func testThatTwoQualitiesAreComparedWithASlider() async throws {
        // Given a picture
        let (url, browser) = try await join()
        try await browser.open("\(url)/?view=try&of=sample://1&options=w:185&format=jpg", until: Self.settled)
        try await browser.wait("document.querySelectorAll('.both img').length === 2")
        // When the slider is moved by a key
        _ = try await browser.evaluate("document.getElementById('slider').focus()")
        try await browser.press("ArrowRight")
        // Then the second picture shows less, and the page shows both sizes
        try await browser.wait("document.querySelectorAll('.both img')[1].style.clipPath === 'inset(0px 0px 0px 51%)'")
        let words = try await browser.evaluate("document.querySelector('.comparison [role=status]').innerText")
        XCTAssertTrue(words.contains("Left") && words.contains("kB"), words)
        // When another format is chosen
        _ = try await browser.evaluate(Self.choose("compare-format", "webp"))
        try await browser.wait("document.querySelectorAll('.both img')[1]?.src.endsWith('@webp')")
        try await assertClean(browser, width: 1280, "compare")
    }

    func testThatATitleWithASpaceInItsIdIsTriedAndExplained() async throws {
        // Given a picture in a file whose name has a space
        let (url, browser) = try await start()
        let posters = folder.appending(path: "posters")
        try FileManager.default.copyItem(at: posters.appending(path: "film.jpg"), to: posters.appending(path: "two words.jpg"))
        // When it is tried, then its picture is there
        try await browser.open("\(url)/?view=try&of=art%3A%2F%2Ftwo%20words&options=w:60&format=jpg", until: Self.settled)
        try await browser.wait("document.querySelector('.made.there img')")
        // And when its address is typed with the space, it is explained
        try await browser.open("\(url)/?view=explain&url=/t/p/w92/art/two%20words", until: Self.settled)
        try await browser.wait("document.querySelector('.explained')?.innerText.includes('variant:art://two words#')")
    }

    func testThatAWrongOptionIsToldBesideItsField() async throws {
        let (url, browser) = try await join()
        try await browser.open("\(url)/?view=try&of=sample://1", until: Self.settled)
        try await browser.wait("document.querySelector('.made.there img')")
        // When a quality is written that there is not
        _ = try await browser.evaluate(Self.fill("quality", with: "900"))
        // Then the field shows the error until the value is valid
        try await browser.wait("document.getElementById('wrong-quality').textContent.includes('900')")
        let field = try await browser.evaluate("document.getElementById('try-quality').getAttribute('aria-invalid')")
        XCTAssertEqual(field, "true")
        try await assertAccessible(browser, "wrong option")
        _ = try await browser.evaluate(Self.fill("quality", with: "60"))
        try await browser.wait("document.getElementById('wrong-quality').textContent === ''")
    }

    func testThatAFilmIsTriedByItsName() async throws {
        // Given the picture of a film, whose name is shown
        let (url, browser) = try await join()
        try await browser.open("\(url)/?view=try&of=sample://2&options=w:60", until: Self.settled)
        try await browser.wait("document.querySelector('.made.there img')")
        try await browser.wait("!document.getElementById('try-of').value.includes('sample://')")
        // When words of another film's name are written, then films with that name are offered, and there is no other film's picture
        _ = try await browser.evaluate(Self.fill("of", with: "Salt"))
        try await browser.wait("document.querySelector('.films button')")
        let pictures = try await browser.evaluate("document.querySelectorAll('.made').length")
        XCTAssertEqual(pictures, "0")
        try await assertClean(browser, width: 1280, "films")
        // When one of them is chosen, then it is tried
        _ = try await browser.evaluate("document.querySelector('.films button').click()")
        try await browser.wait("document.querySelector('.made.there img') && !location.search.includes('sample%3A%2F%2F2')")
        let name = try await browser.evaluate("document.getElementById('try-of').value")
        XCTAssertTrue(name.contains("Salt"), name)
        // And a name that no film has says so
        _ = try await browser.evaluate(Self.fill("of", with: "no such film"))
        try await browser.wait("document.querySelector('.films').innerText.includes('No film is called')")
    }

    func testThatABoxThatThePictureDoesNotFillIsExplained() async throws {
        // Given a picture in a box of another shape
        let (url, browser) = try await join()
        try await browser.open("\(url)/?view=try&of=sample://1&options=w:300/h:300", until: Self.settled)
        // Then the page says how to fill the box
        try await browser.wait("document.querySelector('#fits')")
        let hint = try await browser.evaluate("document.querySelector('#fits').innerText")
        XCTAssertTrue(hint.contains("300 × 300") && hint.contains("fill"), hint)
        // And nothing once it is filled
        _ = try await browser.evaluate(Self.fill("resize", with: "fill"))
        try await browser.wait("document.querySelector('.made.there img')?.naturalWidth === 300")
        try await browser.wait("!document.querySelector('#fits')")
    }

    func testThatAPictureOfEarlierOptionsIsNotShownForOthers() async throws {
        // Given a picture
        let (url, browser) = try await join()
        try await browser.open("\(url)/?view=try&of=sample://1&options=w:60", until: Self.settled)
        try await browser.wait("document.querySelector('.made.there img')")
        // When options are written that there are not
        _ = try await browser.evaluate(Self.fill("quality", with: "900"))
        // Then neither the picture nor its addresses are shown
        try await browser.wait("document.querySelector('.result').innerText === 'There is no picture of that.'")
    }

    func testThatExplainTakesTitlesAndTheAddressesOfViews() async throws {
        let (url, browser) = try await join()
        for (address, size) in [
            ("sample://7", "w342"), ("\(url)/?source=sample&title=7", "w500"), ("/?source=sample&posters=7", "w500"),
            ("/?view=try&of=sample://7", "w342"), ("/?view=explain&url=/t/p/w92/sample/7", "w92"),
        ] {
            // When a title, or the address of a view, is entered
            try await browser.open("\(url)/?view=explain", until: Self.settled)
            _ = try await browser.evaluate(
                "(document.getElementById('address').value = '\(address)', document.getElementById('explain').requestSubmit())")
            // Then its poster is explained, with what a purge removes
            try await browser.wait("document.querySelector('.explained')?.innerText.includes('/t/p/\(size)/sample/7')")
            let text = try await browser.evaluate("document.querySelector('.explained').innerText")
            XCTAssertTrue(text.contains("A purge of sample://7 removes its original"), text)
        }
        // And a view without a title says so
        try await browser.open("\(url)/?view=explain&url=/?view=figures", until: Self.settled)
        try await browser.wait("document.querySelector('.outcome').innerText.includes('has no poster of its own')")
        try await assertClean(browser, width: 1280, "explain a view")
    }

    func testThatASignedAddressIsMadeForTheAdministratorAlone() async throws {
        // Given a server that makes what was signed
        let key = "signing: { keys: [{ key: \"0102030405060708\", salt: \"0102030405060708\" }] }"
        let (url, browser) = try await start(keys: key)
        try await browser.open("\(url)/?view=try&of=sample://1&options=w:60&format=png", until: Self.settled)
        // Then there is a picture only after signing in
        try await browser.wait("document.querySelector('.pictured')?.innerText.includes('requires signatures')")
        try await signIn(browser)
        try await browser.wait("document.querySelector('.made.there img')")
        let address = try await browser.evaluate("document.querySelector('.addresses code').innerText")
        XCTAssertTrue(address.hasPrefix("/i/") && !address.contains("unsafe"), address)
    }

    func testThatExplainSaysWhatToEnterWithAnExample() async throws {
        // Given the view without an address
        let (url, browser) = try await join()
        try await browser.open("\(url)/?view=explain", until: Self.settled)
        // When nothing is entered
        try await browser.wait("document.querySelector('.outcome a')")
        _ = try await browser.evaluate("document.getElementById('explain').requestSubmit()")
        // Then the field has the focus, and the page says what to enter
        try await browser.wait("document.activeElement.id === 'address' && document.querySelector('.outcome a')")
        let text = try await browser.evaluate("document.querySelector('.outcome').innerText")
        XCTAssertTrue(text.contains("Enter the address") && text.contains("/t/p/w342/"), text)
        try await assertClean(browser, width: 1280, "explain without an address")
        // And its example is explained
        _ = try await browser.evaluate("document.querySelector('.outcome a').click()")
        try await browser.wait("document.querySelector('.verdict')")
        let address = try await browser.evaluate("document.getElementById('address').value")
        XCTAssertTrue(address.hasPrefix("/t/p/w342/"), address)
    }

    func testThatAnAddressIsExplainedTimedAndPurged() async throws {
        // Given an address without an earlier request
        let (url, browser) = try await start(isCold: true)
        try await browser.open("\(url)/?view=explain", until: Self.settled)
        _ = try await browser.evaluate(
            "(document.getElementById('address').value = '/t/p/w92/sample/7', document.getElementById('explain').requestSubmit())")
        // When it is explained, nothing is fetched
        try await browser.wait("document.querySelector('.verdict')?.innerText.includes('Neither it nor its original')")
        let requests = browser.requests().filter { $0.contains("/t/p/") }
        XCTAssertEqual(requests, [])
        // When it is to be fetched, its stages are there, and then it is ready
        _ = try await browser.evaluate("document.getElementById('fetch').click()")
        try await browser.wait("document.querySelectorAll('.waterfall').length === 2")
        // The folder is new, and the purge that its changes cause may discard an image that is made at that moment.
        try await browser.wait(
            """
            document.querySelector('.verdict').innerText.includes('It is cached') || (document.getElementById('fetch')?.click(), false)
            """)
        let text = try await browser.evaluate("document.querySelector('.explained').innerText")
        for words in [
            "It is cached (memory)", "mostly in this stage", "Queue and render", "Rendering alone", "Origin", "/t/p/w92/sample/7",
            "variant:sample://7#",
        ] {
            XCTAssertTrue(text.contains(words), "\(words): \(text)")
        }
        try await assertClean(browser, width: 1280, "explained")
        // When the administrator signs in, the page shows what a purge would remove, and the purge removes it
        try await signIn(browser)
        try await browser.wait("document.getElementById('purge')")
        _ = try await browser.evaluate("document.getElementById('purge').click()")
        try await browser.wait("document.querySelector('.outcome').innerText.includes('entries removed')")
        let after = try await browser.evaluate("document.querySelector('.verdict').innerText")
        XCTAssertTrue(after.contains("It was cached before"), after)
    }

    func testThatFiguresShowTiersStagesErrorsJobsAndPurgesWithTheirDryRun() async throws {
        // Given a server that has made something and failed at something
        let closed = "web: { type: remote, allow: [\"http://127.0.0.1:9/\"], networks: [loopback] }"
        let (url, browser) = try await start(sources: closed)
        try await browser.open("\(url)/?source=sample&title=1", until: Self.settled)
        _ = try await browser.evaluate(
            "await fetch('/i/unsafe/w:9/plain/http%3A%2F%2F127.0.0.1%3A9%2Fx.jpg@jpg').then((a) => a.status)")
        try await browser.open("\(url)/?view=figures", until: Self.settled)
        // When the administrator looks
        let text = try await browser.evaluate("document.querySelector('main').innerText")
        for words in ["Requests", "Hit ratio", "Time by stage", "In the queue", "Memory", "Disk", "sample", "Administration"] {
            XCTAssertTrue(text.contains(words), "\(words): \(text)")
        }
        XCTAssertFalse(text.contains("…"), text)
        // Then times of stages are bounds, because a histogram has no others
        try await browser.wait("/≤ \\d+ ms/.test(document.querySelector('main table').innerText)")
        try await signIn(browser)
        // Then what failed is there with what to do, and a prefetch with its progress
        try await browser.wait("document.getElementById('errors')?.innerText.includes('502')")
        // And an original that is no picture
        try Data("no picture".utf8).write(to: folder.appending(path: "posters/broken.jpg"))
        try await browser.wait("(await fetch('/t/p/w92/art/broken').then((answer) => answer.status)) === 422")
        try await browser.wait("document.getElementById('errors')?.innerText.includes('422')")
        _ = try await browser.evaluate(
            """
            await fetch("/prefetch", { method: "POST", headers: { Authorization: "Bearer secret-for-tests" },
              body: '{"source": "sample", "ids": ["1", "2"], "sizes": ["w92", "w92.logo"]}' }).then((a) => a.text())
            """)
        // It has ended. The page looks again when it becomes visible.
        _ = try await browser.evaluate("dispatchEvent(new Event('visibilitychange'))")
        try await browser.wait("document.querySelector('#jobs li[data-state=done] progress')?.value === 4")
        try await browser.wait("document.getElementById('jobs').innerText.includes('2 do not exist')")
        // And a purge counts first
        _ = try await browser.evaluate("document.getElementById('purge-count').click()")
        try await browser.wait("document.getElementById('purge-now')")
        _ = try await browser.evaluate("document.getElementById('purge-now').click()")
        try await browser.wait("document.querySelector('.outcome').innerText.includes('entries removed')")
        let width = try await browser.evaluate("document.documentElement.scrollWidth")
        XCTAssertEqual(width, "1280")
        try await assertAccessible(browser, "figures")
    }

    func testThatFiguresPollOnceHoweverOftenThePageIsShown() async throws {
        let (url, browser) = try await join()
        try await browser.open("\(url)/?view=figures", until: Self.settled)
        // When the page becomes visible ten times before a response comes
        _ = try await browser.evaluate(
            """
            ((real) => {
              window.polls = 0;
              window.fetch = (path, ...rest) => {
                if (path === "/metrics") window.polls += 1;
                return real(path, ...rest);
              };
              for (let n = 0; n < 10; n++) dispatchEvent(new Event("visibilitychange"));
            })(window.fetch)
            """)
        // Then one of them goes on
        try await browser.wait("window.polls > 11")
        let polls = try await browser.evaluate("window.polls")
        XCTAssertLessThan(Int(polls) ?? .max, 15)
    }

    func testPlotOfAYoungServerHasItsWholeWidth() async throws {
        // Given a server with three readings, ten seconds apart
        let (url, browser) = try await join()
        try await browser.refuse("*/figures", with: 200, text: #"{"interval": 10, "series": {"queue": [0, 2, 1]}, "quotas": []}"#)
        // When the figures are opened
        try await browser.open("\(url)/?view=figures", until: "document.querySelector('.plot polyline')")
        // Then the line goes from edge to edge, and the axis begins with the first reading
        let points = try await browser.evaluate(
            "document.querySelector('.plot polyline').getAttribute('points').split(' ').map((point) => point.split(',')[0]).join()")
        XCTAssertEqual(points, "0.0,150.0,300.0")
        let ends = try await browser.evaluate(
            "document.querySelector('.plot:has(polyline)').closest('figure').querySelector('.ends').innerText")
        XCTAssertTrue(ends.contains("20 seconds ago"), ends)
        try await browser.refuse("*/figures", with: nil)
    }

    /// Types `value` into a field of the form to try transforms.
    private static func fill(_ field: String, with value: String) -> String { choose("try-\(field)", value) }

    private static func choose(_ id: String, _ value: String) -> String {
        """
        ((field) => {
          field.value = "\(value)";
          for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
        })(document.getElementById("\(id)"))
        """
    }
}
