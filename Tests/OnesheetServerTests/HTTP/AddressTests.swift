import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import OnesheetAddress
import OnesheetCore
import OnesheetTesting
import StandardPlugins
import Synchronization
import XCTest

@testable import OnesheetServer

/// Addresses as clients, browsers and proxies spell them.
final class AddressTests: ServerTestCase {
    func testThatAnOriginIsAskedForNamesWithSpacesAndLettersBeyondASCII() async throws {
        // Given an origin with such names
        let picture = try Picture.jpeg(width: 30, height: 45)
        let (spaced, korean) = ("/with%20space.jpg", "/%ED%95%9C%20%EC%82%B0.jpg?q=%EC%A0%84")
        let asked = Mutex<[String]>([])
        let origin = try await origin { path, _ in
            asked.withLock { $0.append(path) }
            return [spaced, korean].contains(path) ? .answer(type: "image/jpeg", body: picture) : .answer(status: 404)
        }
        let server = try await server(
            sources: web(origin), keys: "dialects: [thumbor, cloudflare, iiif, next]\nsigning: { unsafe: true }")
        for (path, raw) in [(spaced, "/with space.jpg"), (korean, "/한 산.jpg?q=전")] {
            // When a picture is asked for, its URL encoded once, twice, or as base64url has it
            let once = encoded(origin.url + raw)
            let twice = encoded(origin.url + path)
            let base64 = Data((origin.url + raw).utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
            for address in [
                "/i/unsafe/w:20/plain/\(once)@jpg", "/i/unsafe/w:20/plain/\(twice)@jpg", "/i/unsafe/w:20/\(base64).jpg",
                "/t/p/original/web/\(once)", "/thumbor/unsafe/fit-in/20x0/\(once)",
                "/thumbor/unsafe/fit-in/20x0/\(origin.url)\(path)",
                "/cdn-cgi/image/w=20/\(once)", "/cdn-cgi/image/w=20/\(origin.url)\(path)", "/iiif/3/\(once)/full/20,/0/default.jpg",
                "/_next/image?url=\(once)&w=92&q=75",
            ] {
                let answer = try await server.send(address)
                // Then it is there
                XCTAssertEqual(answer.status, 200, "\(address) \(answer.text.prefix(200))")
            }
        }
        // And each original was asked for once, whatever its spelling, and nothing else
        XCTAssertEqual(asked.withLock { $0 }, [spaced, korean])
    }

    func testAnAddressWhoseSlashesAProxyMergedIsThatOfTheSameImage() async throws {
        let picture = try Picture.jpeg(width: 30, height: 45)
        let origin = try await origin { path, _ in
            path == "/a/b.jpg" ? .answer(type: "image/jpeg", body: picture) : .answer(status: 404)
        }
        let server = try await server(
            sources: web(origin),
            keys: "dialects: [thumbor, cloudflare]\nsigning: { unsafe: true }")
        let url = "\(origin.url)/a/b.jpg"
        for address in [
            "/i/unsafe/w:20/plain/\(url)@jpg", "/thumbor/unsafe/fit-in/20x0/\(url)",
            "/cdn-cgi/image/w=20/\(url)", "/t/p/w92/web/\(url)",
        ] {
            // When a proxy has made one of the two slashes
            let answer = try await server.send(address.replacing("http://", with: "http:/"))
            // Then it is the same image
            XCTAssertEqual(answer.status, 200, "\(address) \(answer.text.prefix(200))")
        }
        XCTAssertEqual(origin.requests(for: "/a/b.jpg"), 1)
    }

    func testSlashesBeforeAnImageAreMerged() async throws {
        // Given addresses that a client has joined of a base with a slash and a path
        let server = try await server(keys: "signing: { unsafe: true }")
        let addresses = [
            "//t/p/w92/sample/1.jpg", "/t//p//w92//sample//1.jpg", "/t/p//w92/sample/1.jpg", "//i/unsafe/w:40/plain/sample://1@jpg",
        ]
        for address in addresses {
            let answer = try await server.send(address)
            XCTAssertEqual(answer.status, 200, "\(address) \(answer.text.prefix(200))")
            let explained = try await server.send("/explain?url=\(PercentEncoding.encode(address))")
            XCTAssertEqual(explained.status, 200, "\(address) \(explained.text.prefix(200))")
        }
        // And a rule of a proxy for another path holds
        for address in ["//sources", "//cache/stats", "//health"] {
            let answer = try await server.send(address)
            XCTAssertEqual(answer.status, 404, address)
        }
    }

    func testThatAnIdWithDotsIsFoundEscapedOrNot() async throws {
        // Given titles whose ids have dots
        let pictures = folder()
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        for (name, width) in [("film.v2", 30), ("film", 40), ("other.jpg", 50)] {
            try Data(try Picture.jpeg(width: width, height: 60).readableBytesView).write(
                to: URL(filePath: "\(pictures)/\(name).jpg"))
        }
        let server = try await server(sources: "art: { type: folder, path: \"\(pictures)\" }")
        for (path, width) in [
            ("film%2Ev2.jpg", 30), ("film.v2.jpg", 30), ("film.v2", 30), ("film%2ev2", 30), ("film.jpg", 40), ("film", 40),
            ("other%2Ejpg.jpg", 50), ("other.jpg", 50), ("other.jpg.jpg", 50),
        ] {
            for _ in 0..<2 {
                let answer = try await server.send("/t/p/original/art/\(path)")
                XCTAssertEqual(answer.status, 200, "\(path) \(answer.text.prefix(200))")
                XCTAssertEqual(try Picture.header(answer.body).width, width, path)
            }
        }
        // And the error names a wrong extension if no title has such an id
        assertProblem(
            try await server.send("/t/p/w92/art/film.jpgg"), 400, "unknown extension “jpgg”; did you mean “jpeg”? Known: ")
        assertProblem(try await server.send("/t/p/w92/art/none.jpg"), 404, "none")
    }

    func testURLIsAskedForAsItIsWritten() async throws {
        // Given an origin with one file that has an extension, and one that has none
        let body = try Picture.jpeg()
        let origin = try await origin { target, _ in
            ["/a.jpg", "/b"].contains(target) ? .answer(type: "image/jpeg", body: body) : .answer(status: 404)
        }
        let server = try await server(sources: web(origin))
        for (file, asked) in [("a.jpg", ["/a.jpg"]), ("b.jpg", ["/b.jpg", "/b"]), ("a.jpg.png", ["/a.jpg"])] {
            // When each is requested
            let answer = try await server.send("/t/p/w92/web/\(origin.url)/\(file)")
            // Then the URL as it is written is asked for first
            XCTAssertEqual(answer.status, 200, "\(file) \(answer.text.prefix(200))")
            for target in asked { XCTAssertEqual(origin.requests(for: target), 1, "\(file) \(target)") }
        }
        XCTAssertEqual(origin.requests(for: "/a"), 0)
        XCTAssertEqual(origin.requests(for: "/a.jpg.png"), 0)
    }

    func testThatAnIdGetsItsCanonicalSpellingOnce() async throws {
        var plugins = PluginList.standard
        plugins.sources.append(SpelledSource.self)
        for hasFastPath in [true, false] {
            // Given a source whose ids have several spellings
            let server = try await server(sources: "films: { type: spelled }", hasFastPath: hasFastPath, plugins: plugins)
            SpelledSource.spelled.withLock { $0 = [] }
            // When a poster is requested that it has, and one that it has not
            let found = try await server.send("/t/p/w92/films/ONE.jpg")
            let missing = try await server.send("/t/p/w92/films/Two.jpg")
            // Then each id was spelled once, and the one with the extension only when the other was missing
            XCTAssertEqual([found.status, missing.status], [200, 404], "fast path: \(hasFastPath)")
            XCTAssertEqual(SpelledSource.spelled.withLock { $0 }, ["ONE", "Two", "Two.jpg"], "fast path: \(hasFastPath)")
        }
    }

    func testThatAMistypedExtensionCausesNoSecondCallOfTheService() async throws {
        // Given a source that asks a service, and a title that it has not
        var plugins = PluginList.standard
        plugins.sources.append(ServiceSource.self)
        for hasFastPath in [true, false] {
            ServiceSource.asked.withLock { $0 = [] }
            let server = try await server(sources: "films: { type: service }", hasFastPath: hasFastPath, plugins: plugins)
            // When it is requested, and one with an extension that no format has
            assertProblem(try await server.send("/t/p/w92/films/nobody.jpg"), 404, "nobody")
            assertProblem(try await server.send("/t/p/w92/films/2.jpgg"), 400, "unknown extension “jpgg”")
            // Then the service was asked once for each
            XCTAssertEqual(ServiceSource.asked.withLock { $0 }, ["nobody", "2.jpgg"], "fast path: \(hasFastPath)")
        }
    }

    func testThatAnExtensionIsOneIfBothIdsExist() async throws {
        // Given a folder with `film` and `film.jpg`
        let pictures = folder()
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        for (name, width) in [("film.jpg", 40), ("film.jpg.jpg", 50)] {
            try Data(try Picture.jpeg(width: width, height: 60).readableBytesView).write(to: URL(filePath: "\(pictures)/\(name)"))
        }
        let server = try await server(sources: "art: { type: folder, path: \"\(pictures)\" }")
        // Then each has its address
        for (path, width) in [("film.jpg", 40), ("film%2Ejpg", 50), ("film.jpg.jpg", 50), ("film%2Ejpg.jpg", 50)] {
            let answer = try await server.send("/t/p/original/art/\(path)")
            XCTAssertEqual(try Picture.header(answer.body).width, width, path)
        }
    }

    func testThatClientsAreRedirectedToTheOriginalIfThereIsNoImage() async throws {
        let origin = try await origin { _, _ in .answer(status: 500) }
        let server = try await server(sources: web(origin), keys: "dialects: [cloudflare]")
        let path = "/cdn-cgi/image/w=20,onerror=redirect/\(origin.url)/a.jpg"
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))
        addTeardownBlock { try await client.shutdown() }
        let answer = try await client.execute(HTTPClientRequest(url: server.url + path), timeout: .seconds(60))
        XCTAssertEqual(answer.status.code, 302)
        XCTAssertEqual(answer.headers.first(name: "Location"), "\(origin.url)/a.jpg")
        XCTAssertEqual(answer.headers.first(name: "Cache-Control"), "no-store")
        // And nowhere else than where a source may fetch from
        assertProblem(
            try await server.send("/cdn-cgi/image/w=20,onerror=redirect/https://evil.example/a.jpg"), 403, "no remote source")
    }

    func testThatAClientThatIsToWaitIsNotSentToTheOriginal() async throws {
        // Given a client that may cause one new image
        let body = try Picture.jpeg(width: 30, height: 45)
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let server = try await server(
            sources: web(origin), keys: "dialects: [cloudflare]\nclients: { perAddress: { misses: 0.001, burst: 1 } }")
        let client = [("X-Forwarded-For", "192.0.2.1")]
        let first = try await server.send("/cdn-cgi/image/w=20,onerror=redirect/\(origin.url)/a.jpg", fields: client)
        // When it asks for a second one
        let second = try await server.send("/cdn-cgi/image/w=21,onerror=redirect/\(origin.url)/a.jpg", fields: client)
        // Then the response says when to retry
        XCTAssertEqual(first.status, 200)
        XCTAssertEqual(second.status, 429, second.text)
        XCTAssertNotNil(second.field("Retry-After"))
    }

    func testThatAFileHasTheNameThatTheAddressGivesIt() async throws {
        let server = try await server()
        // Twice: the second is answered from memory.
        for _ in 0..<2 {
            let saved = try await server.send("/i/unsafe/w:20/fn:my%20poster/att:1/plain/sample://1@png")
            XCTAssertEqual(saved.field("Content-Disposition"), "attachment; filename=\"my poster.png\"")
            let shown = try await server.send("/i/unsafe/w:20/plain/sample://1@png")
            XCTAssertNil(shown.field("Content-Disposition"))
            XCTAssertEqual(shown.body, saved.body)
        }
    }

    func testThatTheLadderIsInTheShapeThatTMDBClientsRead() async throws {
        let server = try await server()
        for (fields, scheme) in [([], "http"), ([("X-Forwarded-Proto", "https")], "https")] as [([(String, String)], String)] {
            let answer = try await server.send("/3/configuration", fields: fields)
            let images = try XCTUnwrap(try answer.json()["images"] as? [String: Any])
            for key in ["poster_sizes", "backdrop_sizes", "logo_sizes", "profile_sizes", "still_sizes"] {
                XCTAssertEqual((images[key] as? [String])?.last, "original", key)
            }
            for key in ["base_url", "secure_base_url"] {
                XCTAssertEqual((images[key] as? String)?.hasPrefix("\(scheme)://"), true, key)
            }
            XCTAssertEqual(answer.field("Vary"), "X-Forwarded-Proto, Accept-Encoding")
        }
    }

    func testThatThumborsTextKeysSign() async throws {
        // Given a key that is a text, and a path that was signed with it: HMAC-SHA1 as base64url
        let server = try await server(
            keys: "dialects: [thumbor]\nsigning: { thumborKeys: [\"MY_SECURE_KEY\"] }")
        let path = "fit-in/92x0/filters:format(jpg)/sample%3A%2F%2F1"
        let signed = try await server.send("/thumbor/T-jMUbKzQJYisvr8esV0lqhuB0s=/\(path)")
        XCTAssertEqual(signed.status, 200, signed.text)
        assertProblem(try await server.send("/thumbor/unsafe/\(path)"), 403, "signature")
        assertProblem(try await server.send("/thumbor/AAAAAAAAAAAAAAAAAAAAAAAAAAA=/\(path)"), 403, "signature")
    }

    private func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte) || byte == 0x2E
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}

/// A source with one title, `one`, in any case.
private struct SpelledSource: SourcePlugin {
    static let type = "spelled"
    static let sampleConfiguration = ""
    /// The ids that the server has asked to spell.
    static let spelled = Mutex<[String]>([])

    let originPolicy = OriginPolicy(allow: [], networks: [])
    let asksService = false

    init(_ configuration: NoConfiguration, context: PluginContext) {}

    func canonicalID(_ id: String) -> String {
        Self.spelled.withLock { $0.append(id) }
        return id.lowercased()
    }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("lists") }
    func title(_ id: String) async throws(SourceError) -> Title { throw .unsupported("titles") }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        guard id == "one" else { throw .notFound(id: id) }
        return [
            PosterCandidate(
                .local(name: id) { () throws(SourceError) in
                    do { return try Picture.jpeg(width: 100, height: 150) } catch { throw .unavailable(reason: "\(error)") }
                })
        ]
    }
}

/// A source without titles that asks a service.
private struct ServiceSource: SourcePlugin {
    static let type = "service"
    static let sampleConfiguration = ""
    /// The ids that the service was asked for.
    static let asked = Mutex<[String]>([])

    let originPolicy = OriginPolicy(allow: [], networks: [])
    let asksService = true

    init(_ configuration: NoConfiguration, context: PluginContext) {}

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("lists") }
    func title(_ id: String) async throws(SourceError) -> Title { throw .unsupported("titles") }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        Self.asked.withLock { $0.append(id) }
        throw .notFound(id: id)
    }
}
