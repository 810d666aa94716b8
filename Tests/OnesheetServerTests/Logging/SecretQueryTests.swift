import Foundation
import OnesheetAddress
import OnesheetTesting
import XCTest

@testable import OnesheetCommands
@testable import OnesheetServer

/// Queries of originals, which may hold keys, are for their origins alone.
final class SecretQueryTests: ServerTestCase {
    private let lines = LogLines()
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    func testThatNeitherTheLogNorTheErrorsHaveTheQueryOfAnOriginal() async throws {
        // Given a source whose pictures cannot be reached
        let accessLog = folder()
        let server = try await server(
            sources: "web: { type: remote, allow: [\"http://127.0.0.1:9/\"], networks: [loopback] }",
            keys: "admin: { token: secret-for-tests }\naccessLog: { path: \"\(accessLog)\" }", logger: lines.logger())
        let url = "http://127.0.0.1:9/one.jpg?token=SECRETQ"
        let once = "http%3A%2F%2F127.0.0.1%3A9%2Fone.jpg%3Ftoken=SECRETQ"
        let digits = Data(url.utf8).base64URL
        let paths = [
            "/i/unsafe/w:60/plain/\(once)@jpg", "/i/unsafe/w:60/plain/\(once.replacing("%", with: "%25"))@jpg",
            "/i/unsafe/w:60/plain/web://\(once)@jpg", "/i/unsafe/w:60/\(digits).jpg",
            "/i/unsafe/w:60/\(digits.prefix(9))/\(digits.dropFirst(9)).jpg", "/t/p/w92/web/\(once)", "/sources/web/titles/\(once)",
            "/i/unsafe/w:60/plain/http%3A%2F%2Fa.example%2Fx%3FSECRETQ@jpg", "/nowhere/\(once)",
            "/explain?url=/i/unsafe/w:60/plain/\(once)", "/explain?url=/i/unsafe/w:60/\(digits).jpg",
            "/i/unsafe/w:60/plain/http://127.0.0.1:9/one.jpg?token=SECRETQ",
            "/?view=explain&url=%2Fi%2Funsafe%2F\(digits).jpg",
        ]
        // When they are requested and prefetched
        for path in paths { _ = try await server.send(path, fields: [("Referer", "http://a.example/?token=SECRETQ")]) }
        _ = try await server.send(
            "/prefetch", method: "POST", fields: administrator, body: "{\"source\": \"web\", \"ids\": [\"\(url)\"]}")
        let errors = try await server.send("/errors", fields: administrator)
        await server.stop()
        // Then the query is nowhere, and the rest is
        let accesses = try String(contentsOfFile: accessLog, encoding: .utf8).split(separator: "\n").map(String.init)
        XCTAssertEqual(accesses.count, paths.count + 2)
        XCTAssertTrue(errors.text.contains("one.jpg"), errors.text)
        XCTAssertFalse(errors.text.contains("SECRETQ"), errors.text)
        XCTAssertFalse(errors.text.contains(String(digits.dropFirst(9))), errors.text)
        XCTAssertFalse(lines.all.isEmpty)
        for line in lines.all + accesses {
            XCTAssertFalse(line.contains("SECRETQ"), line)
            XCTAssertFalse(line.contains(digits.dropFirst(9)), line)
        }
    }

    func testAKeyOfAClientIsNotLogged() {
        for name in ["api_key", "API_KEY", "api%5Fkey", "session_id", "guest_session_id", "request_token"] {
            let shown = AccessLine.visible(target: "/3/movie/550?\(name)=SECRETQ&language=de&with_keywords=9")
            XCTAssertEqual(shown, "/3/movie/550?\(name)=…&language=de&with_keywords=9")
        }
        for path in ["/t/p/w342/a.jpg", "/4/list/5", "/3", "//3/movie/5"] {
            XCTAssertEqual(AccessLine.visible(target: "\(path)?api_key=SECRETQ&page=2"), "\(path)?api_key=…&page=2")
        }
    }

    func testTheKeyOfAnAddressForRatingPostersIsNotLogged() {
        for rest in [
            "imdb/poster-default/tt1.jpg", "TVDB/poster-default/1", "tmdb/x", "isValid", "requests", "anidb/poster-a/1.jpg",
            "poster/tt1.jpg",
            "imdb/\u{301}poster-default/tt1.jpg",
        ] {
            for path in ["/SECRETK/\(rest)", "/SECRETK/\(rest)?lang=de"] {
                XCTAssertFalse(shown(request: path).contains("SECRETK"), shown(request: path))
                XCTAssertFalse(AccessLine.visible(target: path).contains("SECRETK"), AccessLine.visible(target: path))
            }
            XCTAssertEqual(AccessLine.visible(target: "/SECRETK/\(rest)"), "/…/\(rest)")
        }
        for start in ["https://posters.example", "http://a.example/proxied", "/proxied"] {
            XCTAssertEqual(
                AccessLine.visible(referer: "\(start)/SECRETK/imdb/poster-default/tt1.jpg"),
                "\(start)/…/imdb/poster-default/tt1.jpg")
        }
        XCTAssertEqual(AccessLine.visible(target: "/?view=explain&url=%2FSECRETK%2Fimdb%2Fposter-a%2Ftt1.jpg"), "/")
        // What is no such address keeps its words
        for path in ["/sources/tmdb/titles/550", "/t/p/w342/tmdb/550", "/t/p/w342/tmdb/logo-1", "/3/find/tt1", "/x/y/z"] {
            XCTAssertEqual(AccessLine.visible(target: path), path)
        }
    }

    func testAKnownKeyIsNotLoggedWhereverItIs() {
        let keys = ClientKeys(["SECRET-KEY-1", "other~key.2"])
        for text in [
            "/SECRET-KEY-1/imbd/poster-default/tt1.jpg", "/SECRET-KEY-1", "/SECRET-KEY-1/isVlaid?x=1", "/t/p/w92/SECRET-KEY-1/1",
            "/SECRET%2DKEY-1/x", "/x?url=%2FSECRET-KEY-1%2Fimbd", "/x?url=%252FSECRET%252DKEY-1", "unknown source “SECRET-KEY-1”",
            "/SECRET-KEY-1%", "/SECRET-KEY-1.jpg", "/SECRET-KEY-1%2Fx%zz", "/x?url=%2FSECRET-KEY-1%2F%FF%zz", "/other~key.2.jpg",
            "https://posters.example/a/SECRET-KEY-1?lang=de", "/other~key.2/SECRET-KEY-1",
        ] {
            let shown = keys.left(outOf: text)
            XCTAssertFalse(["SECRET", "other~"].contains { shown.contains($0) }, shown)
            XCTAssertTrue(shown.contains("…"), shown)
        }
        for text in [
            "/SECRET-KEY-12/x", "/SECRET-KEY-", "/", "", "/é…/%zz/%", "/secret-key-1/x", String(repeating: "%25", count: 4000),
        ] {
            XCTAssertEqual(keys.left(outOf: text), text)
            XCTAssertEqual(ClientKeys().left(outOf: text), text)
        }
        // And a shortened text looks the same whether it ends in a part of a key or in another word
        for (right, wrong, same) in [
            ("/a/SECRET-KE…", "/a/SECRET-KX…", "/a/…"), ("“SECR…” is unknown", "“SECX…” is unknown", "“…” is unknown"),
            ("/a%2FSECRET%2DKE…", "/a%2FSECRET%2DKX…", "/…"), ("“SECRET-KEY-1…”", "“SECRET-KEY-2…”", "“…”"),
            ("b,%53%45%4…", "b,%53%45%5…", "b,…"),
        ] {
            XCTAssertEqual(keys.left(outOf: right), same)
            XCTAssertEqual(keys.left(outOf: wrong), same)
        }
        for text in ["/ SECRET-KE …", "……"] { XCTAssertEqual(keys.left(outOf: text), text) }
        // And RPDB's own have a form, at the beginning of a path
        for (path, shown) in [
            ("/t0-free-rpdb", "/…"), ("/t1-SECRET/imbd/x?y", "/…/imbd/x"), ("/t2-?x=1", "/…"),
            ("/t/p/w92/t0-x/1", "/t/p/w92/t0-x/1"),
        ] {
            XCTAssertEqual(AccessLine.visible(target: path), shown)
        }
    }

    func testARefererLosesTheQueryOfAnOriginal() {
        let digits = Data("http://127.0.0.1:9/one.jpg?token=SECRETQ".utf8).base64URL
        let image = "/i/unsafe/w:60/\(digits.prefix(9))/\(digits.dropFirst(9)).jpg"
        for start in ["https://posters.example", "http://a.example/proxied", "HTTPS://a.example/i/i", "", "/i/proxied"] {
            for path in [image, "/explain?url=\(image)", "/i/unsafe/plain/http%3A%2F%2Fa.example%2Fb%3Ftoken=SECRETQ"] {
                let shown = AccessLine.visible(referer: start + path)
                XCTAssertFalse(shown.contains("SECRETQ"), shown)
                XCTAssertFalse(shown.contains(digits.dropFirst(9)), shown)
                XCTAssertTrue(shown.hasPrefix(start), shown)
            }
        }
        XCTAssertEqual(AccessLine.visible(referer: "https://a.example/films/i/one?page=2"), "https://a.example/films/i/one")
    }

    func testPathOfManyBeginningsEndsEarly() {
        for part in ["/i/i", "/_/i", "/unsafe/unsafe"] {
            let path = String(repeating: part, count: 3000)
            let shown = AccessLine.visible(target: path)
            XCTAssertTrue(shown.hasSuffix("…"), "\(shown.prefix(200))")
            XCTAssertTrue(path.hasPrefix(shown.dropLast()))
            XCTAssertLessThan(shown.utf8.count, 300)
        }
    }

    func testThatAPathWithoutAURLIsShownWhole() {
        let posters = Data("posters://what?".utf8).base64EncodedString()
        for path in ["/i/unsafe/w:60/plain/posters://what%3F@jpg", "/i/unsafe/w:60/\(posters).jpg", "/i/", "/i/unsafe", "/"] {
            XCTAssertEqual(shown(request: path), path)
        }
    }
}
