import Foundation
import NIOCore
import OnesheetTesting
import XCTest

/// The pages of titles whose ids are URLs.
final class ConsoleRemoteTests: ConsoleTestCase {
    func testTitleAndCandidatesOfARemoteImageShowIt() async throws {
        // Given an image of a site
        let (url, browser, image) = try await open("/posters/a.jpg")
        // When its title is opened, then it has its poster, and its weight in every size
        try await browser.open("\(url)/?source=web&title=\(image)", until: "document.querySelector('article.title .frame.there')")
        try await browser.wait(
            "[...document.querySelectorAll('.sizes td:nth-child(3)')].every((cell) => /B$/.test(cell.innerText))")
        // And the addresses to take along are images
        let statuses = try await browser.evaluate(
            """
            await Promise.all([...document.querySelector('.snippet code').innerText.matchAll(/https?:\\/\\/[^" ]+/g)]
              .map(([address]) => fetch(address).then((answer) => answer.status))).then((all) => [...new Set(all)].join())
            """)
        XCTAssertEqual(statuses, "200")
        // When its candidates are opened, then each is shown
        try await browser.open("\(url)/?source=web&posters=\(image)", until: "document.querySelector('.candidate .frame.there')")
        try await assertClean(browser, width: 1280, "candidates")
        // And the plain page has it too
        let plain = String(decoding: try await WebAnswer.to("\(url)/?plain&source=web&posters=\(image)").body, as: UTF8.self)
        let address = try XCTUnwrap(plain.firstMatch(of: /<li><img src="([^"]+)"/)?.1)
        let candidate = try await WebAnswer.to("\(url)\(address)")
        XCTAssertEqual(candidate.status, 200, "\(address)")
    }

    func testTitleSaysThatItsImageIsNotKept() async throws {
        // Given an image whose origin forbids to store it
        let (url, browser, image) = try await open("/posters/forbidden.jpg")
        // When its title is opened, then the page names its origin and says that the image is not kept
        try await browser.open("\(url)/?source=web&title=\(image)", until: "document.querySelector('.origin dl')")
        let text = try await browser.evaluate("document.querySelector('.origin').innerText")
        XCTAssertTrue(text.contains("127.0.0.1") && text.contains("its origin forbids it") && text.contains("JPEG"), text)
    }

    /// A server with a site, and the URL of a file there, as a parameter of the page.
    private func open(_ file: String) async throws -> (url: String, browser: Browser, image: String) {
        let (shared, browser) = try await join()
        let picture = ByteBuffer(bytes: try await WebAnswer.to("\(shared)/t/p/w342/sample/1.jpg").body)
        let origin = try await OriginServer.start { path, _ in
            let field = path.contains("forbidden") ? "no-store" : "max-age=3600"
            return .answer(type: "image/jpeg", fields: ["Cache-Control": field], body: picture)
        }
        addTeardownBlock { try await origin.stop() }
        let url = try await serve("web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }")
        let image = "\(origin.url)\(file)".replacing("/", with: "%2F").replacing(":", with: "%3A")
        return (url, browser, image)
    }
}
