import Foundation
import Logging
import NIOCore
import OnesheetCore
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// A server for clients of rating posters, with TMDB behind it.
final class RPDBServingTests: ServerTestCase {
    private static let key = "SECRET-KEY-1"
    private let lines = LogLines()

    func testAKeyIsCheckedAsClientsDo() async throws {
        let server = try await server(try await tmdb())
        for path in ["isValid", "requests"] {
            // Given a valid key
            let valid = try await server.send("/\(Self.key)/\(path)")
            XCTAssertEqual(valid.status, 200, valid.text)
            XCTAssertEqual(try valid.json()["valid"] as? Bool, true)
            XCTAssertEqual(valid.field("Access-Control-Allow-Origin"), "*")
            // And another one
            let other = try await server.send("/SECRET-KEY-2/\(path)")
            XCTAssertEqual(other.status, 403, other.text)
            XCTAssertNotNil(try other.json()["error"])
            XCTAssertEqual(other.field("Access-Control-Allow-Origin"), "*")
        }
        let head = try await server.send("/\(Self.key)/isValid", method: "HEAD")
        XCTAssertEqual(head.status, 200)
    }

    func testIDsOfDatabasesLeadToTheImageOfATitle() async throws {
        // Given
        let tmdb = try await tmdb()
        let server = try await server(tmdb)
        for (path, width, height, type) in [
            ("imdb/poster-default/tt550.jpg?fallback=true", 580, 859, "image/jpeg"),
            ("tmdb/poster-default/movie-550", 580, 859, "image/jpeg"),
            ("tmdb/poster-default/series-7.png", 580, 859, "image/png"), ("tvdb/poster-default/700.jpg", 580, 859, "image/jpeg"),
            ("imdb/backdrop-default/tt550.jpg?imageSize=small", 1280, 720, "image/jpeg"),
            ("imdb/logo-default/tt550.png", 488, 244, "image/png"),
            ("tmdb/episode-default/episode-7-S1E2.jpg?imageSize=small", 480, 270, "image/jpeg"),
            ("imdb/episode-default/tt712.jpg?imageSize=small", 480, 270, "image/jpeg"),
            ("tvdb/season-default/season-700-S1.jpg", 580, 859, "image/jpeg"),
        ] {
            // When
            let answer = try await server.send("/\(Self.key)/\(path)")
            // Then
            XCTAssertEqual(answer.status, 200, "\(path) \(answer.text.prefix(300))")
            XCTAssertEqual(answer.field("Content-Type"), type, path)
            XCTAssertEqual(answer.field("Onesheet-Size"), "\(width)x\(height)", path)
            XCTAssertEqual(answer.field("Access-Control-Allow-Origin"), "*", path)
            XCTAssertNil(answer.field("Onesheet-Ignored"), path)
            // And a HEAD has its length
            let head = try await server.send("/\(Self.key)/\(path)", method: "HEAD")
            XCTAssertEqual(head.field("Content-Length"), "\(answer.body.readableBytes)", path)
        }
        // And another size is made of the same original
        let fetched = tmdb.requests(for: "/p/de-600-900.jpg")
        let large = try await server.send("/\(Self.key)/imdb/poster-default/tt550.jpg?imageSize=large")
        XCTAssertEqual(large.status, 200, large.text)
        XCTAssertEqual(tmdb.requests(for: "/p/de-600-900.jpg"), fetched)
    }

    func testAKeyHasLanguages() async throws {
        // Given a key for German, else English
        let tmdb = try await tmdb()
        let server = try await server(tmdb)
        _ = try await server.send("/\(Self.key)/imdb/poster-default/tt550.jpg")
        XCTAssertEqual(tmdb.requests(for: "/p/de-600-900.jpg"), 1)
        // When a client names another one
        _ = try await server.send("/\(Self.key)/imdb/poster-default/tt550.jpg?lang=ko")
        // Then that precedes
        XCTAssertEqual(tmdb.requests(for: "/p/ko-600-900.jpg"), 1)
        let textless = try await server.send("/\(Self.key)/imdb/textless-default/tt550.jpg")
        XCTAssertEqual(textless.status, 200)
        XCTAssertEqual(tmdb.requests(for: "/p/none-600-900.jpg"), 1)
    }

    func testIgnoredParametersAreNamed() async throws {
        let server = try await server(try await tmdb())
        let plain = try await server.send("/\(Self.key)/imdb/poster-default/tt550.jpg")
        let labelled = try await server.send("/\(Self.key)/imdb/poster-bars/tt550.jpg?order=imdb%2Crt")
        XCTAssertEqual(labelled.status, 200, labelled.text)
        XCTAssertEqual(labelled.body, plain.body)
        XCTAssertEqual(labelled.field("Onesheet-Ignored"), "label, order")
    }

    func testAKeyIsASecret() async throws {
        // Given
        let accessLog = folder()
        let server = try await server(
            try await tmdb(),
            keys: """
                admin: { token: secret-for-tests }
                accessLog: { path: "\(accessLog)" }
                """)
        // When requests have it, good ones and others
        for path in [
            "imdb/poster-default/tt550.jpg", "imdb/poster-default/tt550.jpg?lang=de", "imdb/poster-default/tt404.jpg", "isValid",
            "imdb/poster-default/nm1.jpg", "imdb/nothing/tt1.jpg", "IMDB/poster-default/tt1.jpg", "imdb/poster-default/tt550.jpg/x",
            "imdb/poser-default/tt550.jpg", "imbd/poster-default/tt550.jpg", "isVlaid", "", "x?lang=de",
        ] {
            _ = try await server.send("/\(Self.key)/\(path)")
            _ = try await server.send(
                "/favicon.ico", fields: [("Referer", "https://posters.example/proxied/\(Self.key)/imdb/poster-default/tt550.jpg")])
        }
        _ = try await server.send("/?view=explain&url=%2F\(Self.key)%2Fimdb%2Fposter-default%2Ftt550.jpg")
        var shown = ""
        for path in ["/\(Self.key)", "/t/p/w92/\(Self.key)/1.jpg", "/SECRET%2DKEY-1/x", "/sources/\(Self.key)/titles"] {
            shown += try await server.send(path, fields: [("Referer", "https://posters.example/\(Self.key)")]).text + "\n"
        }
        for path in ["/metrics", "/errors", "/figures", "/cache/tmdb"] {
            shown += try await server.send(path, fields: [("Authorization", "Bearer secret-for-tests")]).text
        }
        let picture = try await server.send("/\(Self.key)/imdb/poster-default/tt550.jpg")
        await server.finishStoring()
        await server.stop()
        // Then it is in no log, no metric, no error, no header and no key of the cache
        shown += try String(contentsOfFile: accessLog, encoding: .utf8) + lines.all.joined(separator: "\n")
        shown += picture.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        XCTAssertTrue(shown.contains("/{key}/"), "metrics name the addresses")
        XCTAssertTrue(shown.contains("/…/imdb/poster-default/tt550.jpg"), "logs name the rest")
        for line in shown.split(separator: "\n") {
            XCTAssertFalse(line.contains(Self.key) || line.contains("SECRET%2DKEY-1"), "\(line)")
        }
        let stored = try FileManager.default.subpathsOfDirectory(atPath: server.cache)
        for file in stored {
            let bytes = FileManager.default.contents(atPath: "\(server.cache)/\(file)") ?? Data()
            XCTAssertNil(bytes.range(of: Data(Self.key.utf8)), file)
        }
    }

    func testAKeyThatIsTakenOutIsRefused() async throws {
        // Given a picture in memory
        let tmdb = try await tmdb()
        let server = try await server(tmdb)
        let path = "/\(Self.key)/imdb/poster-default/tt550.jpg"
        for _ in 0..<2 {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200)
        }
        // When its key leaves the configuration
        await server.reload(sources: source(tmdb), keys: "dialects: [{ rpdb: { keys: [{ key: another-key }] } }]")
        // Then it is refused, and the other one is not
        let (old, new) = (try await server.send(path), try await server.send("/another-key/imdb/poster-default/tt550.jpg"))
        XCTAssertEqual(old.status, 403, old.text)
        XCTAssertEqual(new.status, 200, new.text)
    }

    func testAKeyMayHaveALimit() async throws {
        // Given a key that has three requests, and one without a limit
        let tmdb = try await tmdb()
        let server = try await server(
            sources: source(tmdb),
            keys: "dialects: [{ rpdb: { keys: [{ key: limited-key, requests: 0.001, burst: 3 }, { key: other-key }] } }]")
        // When images are asked for, new ones and those in memory, with and without a query
        var statuses: [Int] = []
        for path in ["tt550.jpg", "tt550.jpg", "tt550.jpg?lang=de", "tt550.jpg", "tt550.jpg?lang=de", "tt550.png"] {
            statuses.append(try await server.send("/limited-key/imdb/poster-default/\(path)").status)
        }
        // Then each is counted
        XCTAssertEqual(statuses, [200, 200, 200, 429, 429, 429])
        let refused = try await server.send("/limited-key/imdb/poster-default/tt550.jpg")
        XCTAssertGreaterThan(Int(refused.field("Retry-After") ?? "") ?? 0, 1)
        XCTAssertTrue(try refused.json()["error"] as? String ?? "" != "", refused.text)
        // And the key is valid, an explanation is no request for the image, and others have their own
        for path in [
            "/limited-key/isValid", "/explain?url=/limited-key/imdb/poster-default/tt550.jpg",
            "/other-key/imdb/poster-default/tt550.jpg",
        ] {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200, answer.text)
        }
    }

    func testErrorsHaveTheFormOfTheOtherServer() async throws {
        let server = try await server(try await tmdb())
        for (path, status) in [
            ("imdb/poster-default/tt404.jpg", 404), ("imdb/poster-default/nm404.jpg", 400), ("tmdb/poster-default/404.jpg", 400),
            ("imdb/poster-default/tt550.jpg?imageSize=huge", 400), ("tvdb/poster-default/404.jpg", 404),
        ] {
            let answer = try await server.send("/\(Self.key)/\(path)")
            XCTAssertEqual(answer.status, status, "\(path) \(answer.text)")
            XCTAssertFalse((try answer.json()["error"] as? String ?? "").isEmpty, path)
        }
        // And without a key there is nothing
        let other = try await server.send("/SECRET-KEY-2/imdb/poster-default/tt550.jpg")
        XCTAssertEqual(other.status, 403, other.text)
    }

    func testAConfigurationIsPrintedWithoutTheKeys() throws {
        let yaml = """
            dialects: [{ rpdb: { source: films, keys: [{ key: "\(Self.key)", languages: [de] }, { key: "${RPDB_KEY}" }] } }]
            sources: { films: { type: sample } }
            """
        let configuration = try ConfigurationFile(environment: ["RPDB_KEY": "key-of-variable"]).parse(yaml)
        let printed = configuration.yaml
        XCTAssertFalse(printed.contains(Self.key), printed)
        XCTAssertFalse(printed.contains("key-of-variable"), printed)
        XCTAssertTrue(printed.contains("${RPDB_KEY}"), printed)
        XCTAssertTrue(printed.contains("[de]"), printed)
        XCTAssertTrue(configuration.secrets.contains(Self.key))
    }

    func testADialectSaysWhatIsWrong() {
        for (keys, words) in [
            ("dialects: [rpdb]", "keys"), ("dialects: [{ rpdb: { keys: [{ key: short }] } }]", "dialects.[0].rpdb.keys.[0].key"),
            ("dialects: [{ rpdb: { keys: [{ key: long-enough }], source: none } }]", "none"),
            ("dialects: [{ next: { kees: 1 } }]", "kees"),
            ("dialects: [{ rpdb: { keys: [{ key: long-enough }], sorce: a } }]", "sorce"),
        ] {
            XCTAssertThrowsError(
                try ServerContext.examined(
                    try ConfigurationFile(environment: [:]).parse("\(keys)\nsources: { tmdb: { type: sample } }"), .standard,
                    logger: RunningServer.silent), keys
            ) { error in XCTAssertTrue("\(error)".contains(words), "\(keys): \(error)") }
        }
    }

    /// A service and its pictures, whose names have their sides.
    private func tmdb() async throws -> OriginServer {
        try await origin { target, _ in
            let path = String(target.split(separator: "?")[0])
            if path.hasPrefix("/p/") {
                let name = path.split(separator: "/").last?.split(separator: ".").first ?? ""
                let sides = name.split(separator: "-").compactMap { Int($0) }
                guard sides.count == 2, let picture = try? Picture.jpeg(width: sides[0], height: sides[1]) else {
                    return .answer(status: 404)
                }
                return .answer(type: "image/jpeg", fields: ["Cache-Control": "public, max-age=31919000"], body: picture)
            }
            func image(_ name: String, _ language: String) -> String {
                "{\"file_path\":\"/\(name).jpg\",\"iso_639_1\":\(language),\"vote_average\":8,\"vote_count\":40}"
            }
            let posters = [("de", "\"de\""), ("en", "\"en\""), ("ko", "\"ko\""), ("none", "null")]
                .map { image("\($0)-600-900", $1) }.joined(separator: ",")
            let images = """
                {"posters":[\(posters)],"backdrops":[\(image("back-1920-1080", "null"))],"logos":[\(image("logo-1000-500", "\"de\""))],
                "stills":[\(image("still-960-540", "null"))]}
                """
            let documents = [
                "/api/movie/550/images": images, "/api/tv/7/images": images, "/api/tv/7/season/1/images": images,
                "/api/tv/7/season/1/episode/2/images": images,
                "/api/find/tt550?external_source=imdb_id": #"{"movie_results":[{"id":550}],"tv_results":[]}"#,
                "/api/find/tt712?external_source=imdb_id":
                    #"{"movie_results":[],"tv_results":[],"tv_episode_results":[{"show_id":7,"season_number":1,"episode_number":2}]}"#,
                "/api/find/700?external_source=tvdb_id": #"{"movie_results":[],"tv_results":[{"id":7}]}"#,
            ]
            if let document = documents[target] ?? documents[path] {
                return .answer(type: "application/json", body: ByteBuffer(string: document))
            }
            if path.hasPrefix("/api/find/") {
                return .answer(type: "application/json", body: ByteBuffer(string: #"{"movie_results":[],"tv_results":[]}"#))
            }
            return .answer(status: 404, type: "application/json", body: ByteBuffer(string: #"{"status_code":34}"#))
        }
    }

    private func source(_ tmdb: OriginServer) -> String {
        self.tmdb("\(tmdb.url)/api", variables: "token: ours, pictures: \"\(tmdb.url)/p\"")
    }

    private func server(_ tmdb: OriginServer, keys: String = "") async throws -> RunningServer {
        try await server(
            sources: source(tmdb),
            keys: "dialects: [{ rpdb: { source: tmdb, keys: [{ key: \"\(Self.key)\", languages: [de, en] }] } }]\n\(keys)",
            logger: lines.logger(level: .trace))
    }
}
