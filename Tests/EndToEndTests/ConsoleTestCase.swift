import Foundation
import Synchronization
import XCTest

/// A test of the page in a real browser, with a server.
class ConsoleTestCase: XCTestCase {
    static let settled = """
        document.querySelector("main h1, main .notice") && !document.querySelector("main[aria-busy], [aria-busy=true]") \
        && [...document.images].filter((image) => image.loading !== "lazy").every((image) => image.complete)
        """

    private(set) var folder = URL(filePath: "/")
    /// The browser of all tests of the class. Starting one takes as long as a short test.
    private static let browser = Mutex<Browser?>(nil)
    /// The server of the tests that change nothing on it.
    private static let shared = Mutex<SharedServer?>(nil)

    private struct SharedServer {
        let process: Process
        let url: String
        let folder: URL
    }

    override class func tearDown() {
        do {
            try browser.withLock { $0.take() }?.end()
            if let server = shared.withLock({ $0.take() }) {
                Program.end(server.process)
                try FileManager.default.removeItem(at: server.folder)
            }
        } catch { XCTFail("\(error)") }
        super.tearDown()
    }

    override func setUpWithError() throws {
        if Browser.program == nil {
            let text = "the page is not tested: there is no Chromium (.ci/setup chromium)"
            if ProcessInfo.processInfo.environment["CI"] != nil { XCTFail(text) }
            throw XCTSkip(text)
        }
        folder = Self.newFolder()
        try FileManager.default.createDirectory(at: folder.appending(path: "posters"), withIntermediateDirectories: true)
        addTeardownBlock { [folder] in try FileManager.default.removeItem(at: folder) }
    }

    /// A server of the test's own with the sample source, a folder with two pictures of one film, and the given `sources` and `keys`; and
    /// a browser. For tests that change what the server has or knows, and for those that see what it makes for the first time.
    /// - Parameter isCold: whether the cache has no originals of the sample source.
    func start(sources: String = "", keys: String = "", isCold: Bool = false) async throws -> (url: String, browser: Browser) {
        let (server, url) = try await Self.serve(in: folder, sources: sources, keys: keys, isCold: isCold)
        addTeardownBlock { Program.end(server) }
        return (url, try await page())
    }

    /// The same with a server that the tests of the class share, and that none of them changes.
    func join() async throws -> (url: String, browser: Browser) { (try await Self.sharedURL(), try await page()) }

    /// A server with these sources alone, until the test ends.
    func serve(_ sources: String..., keys: String = "") async throws -> String {
        let lines = sources.map { "\n  \($0)" }.joined()
        try Data("\(keys)cache: { disk: { path: alone } }\nsources:\(lines)\n".utf8)
            .write(to: folder.appending(path: "onesheet.yaml"))
        let (process, url) = try await Program.serve([], in: folder)
        addTeardownBlock { Program.end(process) }
        return url
    }

    private func page() async throws -> Browser {
        let browser = try Self.started()
        try await browser.openPage()
        addTeardownBlock { try await browser.closePage() }
        return browser
    }

    private static func sharedURL() async throws -> String {
        if let server = shared.withLock({ $0 }) { return server.url }
        let folder = newFolder()
        try FileManager.default.createDirectory(at: folder.appending(path: "posters"), withIntermediateDirectories: true)
        let (process, url) = try await serve(in: folder)
        shared.withLock { $0 = SharedServer(process: process, url: url, folder: folder) }
        return url
    }

    private static func newFolder() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "onesheet-\(UUID().uuidString)")
    }

    private static func serve(
        in folder: URL, sources: String = "", keys: String = "", isCold: Bool = false
    ) async throws -> (process: Process, url: String) {
        let configuration = """
            admin: { token: secret-for-tests }
            cache: { disk: { path: cache } }
            \(keys)
            sources:
              sample: { type: sample }
              art: { type: folder, path: posters }
              \(sources)
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "onesheet.yaml"))
        if !isCold { try Program.copyOriginals(to: folder.appending(path: "cache")) }
        let (server, url) = try await Program.serve([], in: folder)
        do {
            for (name, picture) in [("film.jpg", "w342/sample/1"), ("film.jpeg", "w185/sample/2")] {
                try await WebAnswer.to("\(url)/t/p/\(picture).jpg").body.write(to: folder.appending(path: "posters/\(name)"))
            }
        } catch {
            Program.end(server)
            throw error
        }
        return (server, url)
    }

    private static func started() throws -> Browser {
        try browser.withLock { browser in
            let started = try browser ?? Browser(try XCTUnwrap(Browser.program))
            browser = started
            return started
        }
    }

    /// Fails if axe-core (<https://github.com/dequelabs/axe-core>) reports a problem. `.ci/test` sets its path.
    func assertAccessible(_ browser: Browser, _ context: String) async throws {
        guard let path = ProcessInfo.processInfo.environment["ONESHEET_AXE"], !path.isEmpty else {
            let text = "accessibility is not tested: axe-core is missing (.ci/axe)"
            if ProcessInfo.processInfo.environment["CI"] != nil { XCTFail(text) } else { print(text) }
            return
        }
        let script = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        try await browser.send("Runtime.evaluate", ["expression": script])
        let found = try await browser.evaluate(
            """
            await axe.run(document, { resultTypes: ["violations"] }).then((result) => JSON.stringify(
              result.violations.map((violation) => [violation.id, violation.nodes.map((node) => node.html)])))
            """)
        XCTAssertEqual(found, "[]", context)
    }

    /// Fails if the page is wider than the window, has logged something, or is not accessible.
    func assertClean(_ browser: Browser, width: Int, _ context: String) async throws {
        XCTAssertEqual(browser.messages(), [], context)
        let found = try await browser.evaluate("document.documentElement.scrollWidth")
        XCTAssertEqual(found, "\(width)", context)
        try await assertAccessible(browser, context)
    }

    /// Signs in as the administrator, on a view with a sign-in form.
    func signIn(_ browser: Browser) async throws {
        try await browser.wait("document.getElementById('token')")
        _ = try await browser.evaluate(
            "(document.getElementById('token').value = 'secret-for-tests', document.getElementById('sign-in').requestSubmit())")
        try await browser.wait("document.querySelector('[data-order=leave]')")
    }
}
