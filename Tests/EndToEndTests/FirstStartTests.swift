import Foundation
import NIOCore
import OnesheetCrypto
import OnesheetTesting
import XCTest

/// The first minutes with the program: a start without a file, and the commands that help on.
final class FirstStartTests: CommandTestCase {
    func testServerStartsWithTheEnvironmentAlone() async throws {
        // Given variables for a public address, and no file
        let environment = ["ONESHEET_LISTEN": "0.0.0.0:0", "ONESHEET_CACHE": "\(folder.path)/state"]
        let output = Pipe()
        let server = try Program.start(["serve"], in: folder, output: output, environment: environment)
        addTeardownBlock { Program.end(server) }
        let printed = LogReader(output.fileHandleForReading)
        // When the server has started
        let greeting = await printed.read(until: "/titles")
        // Then it says that it serves the sample, what opens another source, and where its keys are
        XCTAssertTrue(greeting.contains("this is the sample") && greeting.contains("TMDB_TOKEN"), greeting)
        XCTAssertTrue(greeting.contains("\(folder.path)/state/keys"), greeting)
        // And it demands signatures, which the command makes with its keys
        let port = try XCTUnwrap(greeting.firstMatch(of: /http:\/\/0\.0\.0\.0:([0-9]+)\//)?.1)
        let refused = try await WebAnswer.to("http://127.0.0.1:\(port)/i/unsafe/w:60/plain/sample://1@png")
        XCTAssertEqual(refused.status, 403)
        let signed = try await run(["sign", "w:60/plain/sample://1@png", "--cache", "state"])
        let path = signed.text.trimmingCharacters(in: .newlines)
        let served = try await WebAnswer.to("http://127.0.0.1:\(port)\(path)")
        XCTAssertEqual(served.status, 200, "\(path) \(served.text)")
        // And nothing that was printed is a key
        let keys = try String(contentsOf: folder.appending(path: "state/keys"), encoding: .utf8)
        let values = keys.split(separator: "\n").compactMap { $0.split(separator: "=").last }
        XCTAssertEqual(values.count, 3)
        XCTAssertFalse(values.contains { greeting.contains($0) }, greeting)
    }

    func testPortInUseIsOneLine() async throws {
        let (server, url) = try await Program.serve(["--cache", "one"], in: folder)
        addTeardownBlock { Program.end(server) }
        let second = try await run(["serve", "--listen", String(url.dropFirst("http://".count)), "--cache", "two"])
        XCTAssertEqual(second.status, 1)
        let lines = second.errors.split(separator: "\n")
        XCTAssertEqual(lines.count, 1, second.errors)
        XCTAssertTrue(lines.first?.hasPrefix("onesheet: port ") ?? false, second.errors)
    }

    func testServerWithATokenInTheEnvironmentServesItsService() async throws {
        // Given recorded responses of the service, and its token in the environment
        let (api, recordings) = ("https://api.themoviedb.org/3/movie", folder.appending(path: "recorded"))
        try FileManager.default.createDirectory(at: recordings, withIntermediateDirectories: true)
        try record(
            "\(api)/now_playing?language=en-US&page=1",
            ["text": #"{"results":[{"id":550,"title":"The Film"}],"total_results":1,"total_pages":1}"#], in: recordings)
        try record("\(api)/550/images", ["text": #"{"posters":[{"file_path":"/a.jpg","vote_average":8}]}"#], in: recordings)
        try record(
            "https://image.tmdb.org/t/p/original/a.jpg",
            ["base64": try Data(contentsOf: Program.samplePoster).base64EncodedString()],
            in: recordings)
        let output = Pipe()
        let server = try Program.start(
            ["serve", "--listen", "127.0.0.1:0", "--cache", "c", "--replay", "recorded"], in: folder, output: output,
            environment: ["TMDB_TOKEN": "token-of-a-test"])
        addTeardownBlock { Program.end(server) }
        // When it has started
        let greeting = await LogReader(output.fileHandleForReading).read(until: "/metrics")
        let url = try XCTUnwrap(greeting.firstMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+/)?.0)
        XCTAssertTrue(greeting.contains("\(url)/sources/tmdb/titles"), greeting)
        XCTAssertFalse(greeting.contains("sample"), greeting)
        // Then it has the list and the poster of the service
        let list = try await WebAnswer.to("\(url)/sources/tmdb/titles")
        XCTAssertTrue(list.text.contains("The Film"), list.text)
        let poster = try await WebAnswer.to("\(url)/t/p/w92/tmdb/550.jpg")
        XCTAssertEqual(poster.status, 200)
    }

    /// Writes a response as `--record` does.
    private func record(_ url: String, _ body: [String: String], in folder: URL) throws {
        let document: [String: Any] = body.merging(["url": url]) { $1 }
        let whole = document.merging(["status": 200, "headers": [String: String]()]) { $1 }
        let name = SHA256.hash(url.utf8).prefix(12).map { String(format: "%02x", $0) }.joined()
        try JSONSerialization.data(withJSONObject: whole).write(to: folder.appending(path: "\(name).json"))
    }

    func testStartNamesOnlyAddressesThatEveryoneGets() async throws {
        for (keys, expected) in [
            ("public: {}", ["/", "/sources/sample/titles", "/t/p/w342/sample/1.jpg"]),
            ("public: { console: false, lists: false }", ["/t/p/w342/sample/1.jpg"]),
        ] {
            // Given a server
            try Data("listen: \"127.0.0.1:0\"\nsources: { sample: { type: sample } }\n\(keys)\n".utf8)
                .write(to: folder.appending(path: "onesheet.yaml"))
            let output = Pipe()
            let server = try Program.start(["serve", "--cache", "c"], in: folder, output: output)
            // When it has started
            let greeting = await LogReader(output.fileHandleForReading).read(until: "/1.jpg")
            // Then everyone gets what it names
            let urls = greeting.matches(of: /http:\/\/127\.0\.0\.1:[0-9]+([^\s]*)/)
            XCTAssertEqual(urls.map { String($0.1) }, expected, greeting)
            for url in urls {
                let answer = try await WebAnswer.to(String(url.0))
                XCTAssertEqual(answer.status, 200, "\(url.0)")
            }
            Program.end(server)
        }
    }

    func testCheckRefusesAFolderThatNoServerCanMake() async throws {
        for command in [["config", "check"], ["serve", "--listen", "127.0.0.1:0"]] {
            let outcome = try await run(command + ["--cache", "/proc/onesheet"])
            XCTAssertEqual(outcome.status, 1, "\(command)")
            XCTAssertTrue(outcome.errors.contains("/proc/onesheet"), outcome.errors)
        }
    }

    func testManifestIsPrintedAndCanBeUsed() async throws {
        let printed = try await run(["sources", "manifest", "tmdb"])
        XCTAssertTrue(printed.text.hasPrefix("baseURL: https://api.themoviedb.org/3"), printed.text)
        try printed.output.write(to: folder.appending(path: "films.yaml"))
        try Data("sources: { mine: { type: rest, manifest: ./films.yaml, variables: { token: t } } }".utf8)
            .write(to: folder.appending(path: "onesheet.yaml"))
        let check = try await run(["config", "check"])
        XCTAssertEqual(check.status, 0, check.errors)
        let unknown = try await run(["sources", "manifest", "tmbd"])
        XCTAssertEqual(unknown.status, 1)
        XCTAssertTrue(unknown.errors.contains("did you mean “tmdb”?"), unknown.errors)
    }

    func testPurgeTakesAnAddress() async throws {
        try Program.copyOriginals(of: ["1", "2"], to: folder.appending(path: "c"))
        let address = "https://posters.example/t/p/w92/sample/1.jpg"
        let shown = try await run(["cache", "purge", address, "--cache", "c", "--dry-run", "--json"])
        let purged = try await run(["cache", "purge", address, "--cache", "c", "--json"])
        let again = try await run(["cache", "purge", address, "--cache", "c", "--json"])
        XCTAssertGreaterThan(try summary(shown)["entries"] ?? 0, 0)
        XCTAssertEqual(shown.text, purged.text)
        XCTAssertEqual(try summary(again)["entries"], 0)
        let both = try await run(["cache", "purge", address, "--all", "--cache", "c"])
        XCTAssertEqual(both.status, 64)
    }

    func testDayWithoutAListIsSaid() async throws {
        let pictures = folder.appending(path: "posters")
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        try Data("sources: { art: { type: folder, path: posters } }".utf8).write(to: folder.appending(path: "onesheet.yaml"))
        let outcome = try await run(["prefetch", "art"])
        XCTAssertTrue(outcome.errors.contains("the newest list of “art” is empty"), outcome.errors)
        // And a day without a list, of a source that has lists by day
        try Data("sources: { cinema: { type: rest, manifest: ./cinema.yaml, networks: [loopback] } }".utf8)
            .write(to: folder.appending(path: "onesheet.yaml"))
        let origin = try await OriginServer.start { _, _ in
            .answer(type: "application/json", body: ByteBuffer(string: "{\"films\":[]}"))
        }
        addTeardownBlock { try await origin.stop() }
        try Data(
            """
            baseURL: \(origin.url)
            dates: { newest: -1 }
            list: { get: "/films{?date}", items: /films, fields: { id: /id, name: /name } }
            title: { get: "/films/{id}", fields: { id: /id, name: /name } }
            candidates: { get: "/films/{id}/images", items: /images, fields: { url: /url } }
            """.utf8
        ).write(to: folder.appending(path: "cinema.yaml"))
        let day = try await run(["prefetch", "cinema", "--date", "2026-11-20"])
        XCTAssertTrue(day.errors.contains("“cinema” has no list of 2026-11-20"), day.errors)
        let days = try await run(["prefetch", "cinema", "--from", "2026-11-20", "--to", "2026-11-21"])
        XCTAssertTrue(days.errors.contains("“cinema” has no lists from 2026-11-20 to 2026-11-21"), days.errors)
    }

    func testCheckOfASourceNamesTheRequestThatFailed() async throws {
        // Given a service whose answers are at another address than the manifest says
        let (server, url) = try await Program.serve(["--cache", "one"], in: folder)
        addTeardownBlock { Program.end(server) }
        let manifest = """
            baseURL: \(url)
            list: { get: "/sources/sample/titles", items: /titles, fields: { id: /id, name: /name } }
            title: { get: "/sources/sample/titles/{id}", fields: { id: /id, name: /name } }
            candidates: { get: "/sources/sample/images/{id}?key=SECRET", items: /posters, fields: { url: /url } }
            """
        try Data(manifest.utf8).write(to: folder.appending(path: "films.yaml"))
        try Data("sources: { mine: { type: rest, manifest: ./films.yaml, networks: [loopback] } }".utf8)
            .write(to: folder.appending(path: "onesheet.yaml"))
        // When it is checked
        let check = try await run(["sources", "check", "mine", "--cache", "two"])
        // Then the report has the address without its query, and the status
        XCTAssertEqual(check.status, 1)
        XCTAssertTrue(check.text.contains("✓ newest list"), check.text + check.errors)
        let line = check.text.split(separator: "\n").first { $0.hasPrefix("✗ candidates of") }
        XCTAssertTrue(line?.contains("GET \(url)/sources/sample/images/") ?? false, check.text)
        XCTAssertTrue(line?.contains(": 404)") ?? false, check.text)
        XCTAssertFalse(check.text.contains("SECRET"), check.text)
    }
}
