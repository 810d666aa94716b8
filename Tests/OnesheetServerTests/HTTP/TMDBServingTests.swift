import NIOCore
import OnesheetCore
import OnesheetTesting
import StandardPlugins
import Synchronization
import XCTest

@testable import OnesheetServer

/// A mirror of TMDB, whose clients have changed the host alone.
final class TMDBServingTests: ServerTestCase {
    private static let film = #"{"id":550,"title":"Film","release_date":"1999-10-15","poster_path":"/40-60.jpg"}"#
    private static let newFilm = #"{"id":551,"title":"New","release_date":"2026-11-20"}"#
    private static let missing = #"{"success":false,"status_code":34,"status_message":"The resource could not be found."}"#

    func testSizesOfAFileShareOneOriginal() async throws {
        // Given
        let tmdb = try await tmdb()
        let server = try await server(tmdb)
        for (path, width, height, type) in [
            ("/t/p/original/400-600.jpg", 400, 600, "image/jpeg"), ("/t/p/w92/400-600.jpg", 92, 138, "image/jpeg"),
            ("/t/p/w92//400-600.jpg?v=1", 92, 138, "image/jpeg"), ("/t/p/w342/400-600.webp", 342, 513, "image/webp"),
            ("/t/p/w300_and_h450_bestv2/400-600.jpg", 300, 450, "image/jpeg"),
            ("/t/p/w94_and_h141_bestv2/400-600.jpg", 94, 141, "image/jpeg"), ("/t/p/w344/400-600.jpg", 344, 516, "image/jpeg"),
        ] {
            // When
            let answer = try await server.send(path)
            // Then
            XCTAssertEqual(answer.status, 200, "\(path) \(answer.text.prefix(200))")
            XCTAssertEqual(answer.field("Content-Type"), type, path)
            guard type != "image/webp" else { continue }
            let header = try Picture.header(answer.body)
            XCTAssertEqual([header.width, header.height], [width, height], path)
        }
        XCTAssertEqual(tmdb.requests(for: "/p/400-600.jpg"), 1)
        XCTAssertEqual(tmdb.requests(), 1)
        // And a title's poster has the same bytes as its file
        let (file, title) = (try await server.send("/t/p/w92/40-60.jpg"), try await server.send("/t/p/w92/tmdb/550.jpg"))
        XCTAssertEqual(title.status, 200, title.text)
        XCTAssertEqual(file.body, title.body)
    }

    func testUsualSizesNeedNoSignature() async throws {
        let server = try await server(try await tmdb(), keys: "presetsOnly: true\npresets: { small: \"w:50\", default: \"q:30\" }")
        let (usual, other) = (try await server.send("/t/p/w92/400-600.jpg"), try await server.send("/t/p/w343/400-600.jpg"))
        XCTAssertEqual(usual.status, 200, usual.text)
        assertProblem(other, 403, "presets")
    }

    func testAnswersAreThoseOfTheServiceWithTheKeyOfTheServer() async throws {
        // Given
        let (tmdb, seen) = (try await tmdb(), seen)
        let server = try await server(tmdb)
        // When a client asks with a key of its own, in several spellings
        for path in [
            "/3/movie/550?api_key=theirs&language=de-DE", "/3/movie/550?language=de-de&api_key=theirs",
            "/3/movie/550-film?language=DE-DE&unknown=1",
        ] {
            let answer = try await server.send(path, fields: [("Authorization", "Bearer theirs")])
            // Then it gets the document of the service as it is written
            XCTAssertEqual(answer.status, 200, answer.text)
            XCTAssertEqual(answer.text, Self.film)
            XCTAssertEqual(answer.field("Content-Type"), "application/json;charset=utf-8")
            XCTAssertEqual(answer.field("Access-Control-Allow-Origin"), "*")
        }
        // And the service is asked once, with the key of the server
        XCTAssertEqual(tmdb.requests(for: "/api/movie/550?language=de-DE"), 1)
        XCTAssertEqual(tmdb.requests(), 1)
        XCTAssertEqual(seen.withLock { $0 }, ["Bearer ours"])
        // And a HEAD and a condition are answered without it
        let head = try await server.send("/3/movie/550?language=de-DE", method: "HEAD")
        XCTAssertEqual(head.field("Content-Length"), "\(Self.film.utf8.count)")
        let tag = try XCTUnwrap(head.field("ETag"))
        let unchanged = try await server.send("/3/movie/550?language=de-DE", fields: [("If-None-Match", tag)])
        XCTAssertEqual(unchanged.status, 304)
        XCTAssertEqual(tmdb.requests(), 1)
    }

    func testAKeyOfVersion3IsAsGoodAsAToken() async throws {
        // Given a server with a key of version 3
        let (tmdb, seen) = (try await tmdb(), seen)
        let server = try await server(tmdb, credential: "key: ours3")
        // When a client asks with a key of its own, and for a picture of a title
        let answer = try await server.send("/3/movie/550?api_key=theirs&language=de-DE")
        let picture = try await server.send("/t/p/w92/tmdb/550.jpg")
        // Then the service gets that of the server, in the address
        XCTAssertEqual(answer.text, Self.film)
        XCTAssertEqual(picture.status, 200, picture.text)
        XCTAssertEqual(tmdb.requests(for: "/api/movie/550?language=de-DE&api_key=ours3"), 1)
        XCTAssertEqual(tmdb.requests(for: "/api/movie/550/images?api_key=ours3"), 1)
        XCTAssertEqual(tmdb.requests(for: "/p/40-60.jpg"), 1)
        XCTAssertEqual(seen.withLock { $0 }, [""])
    }

    func testASourceNeedsATokenOrAKey() throws {
        for (variables, isRight) in [("token: a", true), ("key: a", true), ("", false), ("token: \"\"", true)] {
            let yaml = "sources: { tmdb: { type: rest, manifest: tmdb, variables: { \(variables) } } }"
            let examine = {
                try ServerContext.examined(
                    try ConfigurationFile(environment: [:]).parse(yaml), .standard, logger: RunningServer.silent)
            }
            if isRight { XCTAssertNoThrow(try examine(), yaml) } else { XCTAssertThrowsError(try examine(), yaml) }
        }
    }

    func testErrorsHaveTheFormOfTheService() async throws {
        let tmdb = try await tmdb()
        let server = try await server(tmdb)
        for (path, method, status, code) in [
            ("/3/movie/1", "GET", 404, 34), ("/3/movie/1?page=1", "GET", 404, 34), ("/3/", "GET", 404, 34), ("/3", "GET", 404, 34),
            ("/3", "POST", 405, 42), ("/3/movie/901", "GET", 404, 34), ("/3/movie/902", "GET", 404, 34),
            ("/3/movie/../x", "GET", 404, 34), ("/3/account", "GET", 403, 3), ("/3/authentication/token/new", "GET", 403, 3),
            ("/3/movie/550/rating", "POST", 405, 42), ("/3/list/1", "DELETE", 405, 42),
            ("/3/search/movie?query=\(String(repeating: "a", count: 5000))", "GET", 400, 18),
            ("/3/movie/900", "GET", 502, 43),
        ] {
            let answer = try await server.send(path, method: method)
            XCTAssertEqual(answer.status, status, "\(path) \(answer.text)")
            let document = try answer.json()
            XCTAssertEqual(document["status_code"] as? Int, code, "\(path) \(answer.text)")
            XCTAssertEqual(document["success"] as? Bool, false, path)
            XCTAssertFalse((document["status_message"] as? String ?? "").isEmpty, path)
            XCTAssertTrue(answer.field("Content-Type")?.hasPrefix("application/json") ?? false, path)
        }
        // What the service does not have is asked for once
        XCTAssertEqual(tmdb.requests(for: "/api/movie/1"), 1)
        // And a client that tries its key is told that it may go on
        let key = try await server.send("/3/authentication?api_key=theirs").json()
        XCTAssertEqual(key["success"] as? Bool, true)
    }

    func testConfigurationNamesThisServer() async throws {
        let server = try await server(try await tmdb())
        let document = try await server.send("/3/configuration?api_key=theirs").json()
        let images = try XCTUnwrap(document["images"] as? [String: Any])
        XCTAssertEqual(images["secure_base_url"] as? String, "\(server.url)/t/p/")
        XCTAssertEqual((images["poster_sizes"] as? [String])?.last, "original")
    }

    func testStaleAnswersAreRenewedOrServedWhileTheServiceIsAway() async throws {
        // Given an answer that is no longer fresh
        let (tmdb, clock, isAway) = (try await tmdb(), ManualClock(), isAway)
        let server = try await server(tmdb, clock: clock.wallClock)
        _ = try await server.send("/3/movie/551")
        await server.finishStoring()
        clock.advance(by: .seconds(2 * 3600))
        // When the service confirms it
        let renewed = try await server.send("/3/movie/551")
        // Then it is fresh again
        XCTAssertEqual(renewed.text, Self.newFilm)
        XCTAssertEqual(confirmed.withLock { $0 }, 1)
        _ = try await server.send("/3/movie/551")
        XCTAssertEqual(tmdb.requests(for: "/api/movie/551"), 2)
        // When the service is away for three days
        await server.finishStoring()
        isAway.withLock { $0 = true }
        clock.advance(by: .seconds(3 * 86_400))
        // Then its last answer serves
        let stale = try await server.send("/3/movie/551")
        XCTAssertEqual(stale.status, 200, stale.text)
        XCTAssertEqual(stale.text, Self.newFilm)
        // And what was never asked is an error
        let unknown = try await server.send("/3/movie/552")
        XCTAssertTrue([502, 503].contains(unknown.status), unknown.text)
    }

    func testPicturesAreServedWhileTheServiceIsAway() async throws {
        // Given a picture that was seen
        let (tmdb, clock, isAway) = (try await tmdb(), ManualClock(), isAway)
        let server = try await server(tmdb, clock: clock.wallClock)
        _ = try await server.send("/t/p/w92/400-600.jpg")
        await server.finishStoring()
        // When its host is away for three days
        isAway.withLock { $0 = true }
        clock.advance(by: .seconds(3 * 86_400))
        // Then its sizes are served, even a new one
        for path in ["/t/p/w92/400-600.jpg", "/t/p/w154/400-600.jpg", "/t/p/original/400-600.jpg"] {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200, "\(path) \(answer.text)")
        }
    }

    func testMadeUpPathsCountAgainstTheirClient() async throws {
        // Given a client with three misses
        let tmdb = try await tmdb()
        let server = try await server(
            tmdb, keys: "clients: { trustedProxies: [], perAddress: { misses: 0.001, burst: 3 } }")
        // When it makes up files and films
        var statuses: [Int] = []
        for number in 0..<4 {
            statuses.append(try await server.send("/t/p/w92/none\(number).jpg").status)
            statuses.append(try await server.send("/3/movie/1\(number)").status)
        }
        // Then the service is asked three times
        XCTAssertEqual(statuses, [404, 404, 404, 429, 429, 429, 429, 429])
        XCTAssertEqual(tmdb.requests(), 3)
    }

    func testAPrefetchAsksForAnswersAheadOfClients() async throws {
        // Given
        let tmdb = try await tmdb()
        let server = try await server(tmdb, keys: "admin: { token: secret-for-tests }")
        let queries = ["", "append_to_response=images&language=de-de"]
        let cost = try await prefetch(on: server, "\"list\": \"popular\", \"dryRun\": true", answers: queries)
        XCTAssertEqual(try cost.json()["answers"] as? Int, 4, cost.text)
        for (made, state) in [(6, "new"), (0, "known")] {
            // When a list is prefetched with the queries of two clients
            let answer = try await prefetch(on: server, "\"list\": \"popular\"", answers: queries)
            // Then its poster, two answers about it, the file that both name, and two answers about the list are there
            XCTAssertEqual(try answer.json()["made"] as? Int, made, answer.text)
            XCTAssertEqual(try answer.json()["total"] as? Int, 7, answer.text)
            XCTAssertEqual(try states(answer), [state], answer.text)
        }
        // And the record of prefetches counts the answers
        let record = try await server.send("/prefetch", fields: [("Authorization", "Bearer secret-for-tests")]).json()
        XCTAssertEqual((record["jobs"] as? [[String: Any]])?.map { $0["answers"] as? Int }, [4, 4])
        // And clients cause no call
        let asked = tmdb.requests()
        for path in [
            "movie/550", "movie/550?language=de-DE&append_to_response=images", "movie/popular?language=de-DE",
            "movie/popular?page=1",
        ] {
            let answer = try await server.send("/3/\(path)")
            XCTAssertEqual(answer.status, 200, answer.text)
        }
        XCTAssertEqual(tmdb.requests(), asked)
        // And what the service does not have has failed
        let failed = try await prefetch(on: server, "\"ids\": [\"550\", \"903\"]", answers: [""])
        XCTAssertEqual(try states(failed), ["known", "failed"], failed.text)
        XCTAssertEqual(try failed.json()["failed"] as? Int, 3, failed.text)
        // And a query that is none is an error
        let account = try await prefetch(on: server, "\"ids\": [\"550\"]", answers: ["append_to_response=rating"])
        assertProblem(account, 400, "accounts")
        let many = try await prefetch(on: server, "\"ids\": [\"550\"]", answers: Array(repeating: "", count: 9))
        assertProblem(many, 400, "more than 8")
    }

    func testAPrefetchMakesTheImagesThatAnswersName() async throws {
        // Given a film whose French poster is not the one that the source chooses
        let tmdb = try await tmdb()
        let server = try await server(tmdb, keys: "admin: { token: secret-for-tests }")
        // When it is prefetched for clients in French
        let cost = try await prefetch(on: server, "\"ids\": [\"550\"], \"dryRun\": true", answers: ["language=fr-FR"])
        let answer = try await prefetch(on: server, "\"ids\": [\"550\"]", answers: ["language=fr-FR"])
        // Then both posters and the answer are made
        XCTAssertEqual(try cost.json()["missing"] as? Int, 2, cost.text)
        XCTAssertEqual(try answer.json()["made"] as? Int, 3, answer.text)
        let asked = tmdb.requests()
        // And the poster that the answer names is there
        let document = try await server.send("/3/movie/550?language=fr-FR").json()
        let poster = try await server.send("/t/p/w92\(document["poster_path"] as? String ?? "")")
        XCTAssertEqual(poster.status, 200, poster.text)
        XCTAssertEqual(tmdb.requests(), asked)
        XCTAssertEqual(tmdb.requests(for: "/p/60-90.jpg"), 1)
        // And a second prefetch finds all
        let again = try await prefetch(on: server, "\"ids\": [\"550\"]", answers: ["language=fr-FR"])
        XCTAssertEqual(try again.json()["skipped"] as? Int, 3, again.text)
        let none = try await prefetch(on: server, "\"ids\": [\"550\"], \"dryRun\": true", answers: ["language=fr-FR"])
        XCTAssertEqual(try none.json()["missing"] as? Int, 0, none.text)
    }

    func testADryRunCountsAnImageOnceThatTwoAnswersName() async throws {
        // Given a film that is prefetched for clients that ask two questions about it
        let server = try await server(try await tmdb(), keys: "admin: { token: secret-for-tests }")
        let queries = ["language=fr-FR", "append_to_response=credits&language=fr-FR"]
        _ = try await prefetch(on: server, "\"ids\": [\"550\"]", answers: queries)
        // When its cost is asked for again
        let both = try await prefetch(on: server, "\"ids\": [\"550\"], \"dryRun\": true", answers: queries)
        // Then it has two images: its own, and the one that both answers name
        for key in ["total", "there"] { XCTAssertEqual(try both.json()[key] as? Int, 2, "\(key): \(both.text)") }
    }

    func testAWrongQueryCostsNoList() async throws {
        let tmdb = try await tmdb()
        let server = try await server(tmdb, keys: "admin: { token: secret-for-tests }")
        let answer = try await prefetch(on: server, "\"list\": \"popular\"", answers: ["append_to_response=rating"])
        assertProblem(answer, 400, "accounts")
        XCTAssertEqual(tmdb.requests(), 0)
    }

    func testAPrefetchOfAnswersFailsWhileTheServiceIsAway() async throws {
        // Given an answer that is stale after an hour
        let clock = ManualClock()
        let server = try await server(try await tmdb(), keys: "admin: { token: secret-for-tests }", clock: clock.wallClock)
        _ = try await prefetch(on: server, "\"ids\": [\"551\"]", answers: [""])
        await server.finishStoring()
        clock.advance(by: .seconds(2 * 3600))
        isAway.withLock { $0 = true }
        // When it is prefetched again
        let answer = try await prefetch(on: server, "\"ids\": [\"551\"]", answers: [""])
        // Then it has failed, although clients get it
        XCTAssertEqual(try states(answer), ["failed"], answer.text)
        XCTAssertTrue(answer.text.contains("no fresh answer"), answer.text)
        let film = try await server.send("/3/movie/551")
        XCTAssertEqual(film.text, Self.newFilm)
    }

    func testOnlyASourceWithADialectHasAnswers() async throws {
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        let answer = try await prefetch(of: "sample", on: server, "\"ids\": [\"1\"]", answers: [""])
        assertProblem(answer, 400, "no dialect asks “sample”")
    }

    func testAListThatTheServiceDoesNotHaveIsNoFault() async throws {
        // Given
        let server = try await server(try await tmdb(), keys: "admin: { token: secret-for-tests }")
        // When
        let answer = try await prefetch(on: server, "\"list\": \"collection-999999\"", answers: [])
        // Then
        assertProblem(answer, 404, "there is no list “collection-999999”")
        let sources = try await server.send("/sources", fields: [("Authorization", "Bearer secret-for-tests")])
        XCTAssertFalse(sources.text.contains("no list"), sources.text)
    }

    private func prefetch(
        of source: String = "tmdb", on server: RunningServer, _ titles: String, answers: [String]
    ) async throws -> ServerAnswer {
        let answers = answers.map { "\"\($0)\"" }.joined(separator: ",")
        return try await server.send(
            "/prefetch", method: "POST", fields: [("Authorization", "Bearer secret-for-tests")],
            body: "{\"source\": \"\(source)\", \"sizes\": [\"w92\"], \(titles), \"answers\": [\(answers)]}")
    }

    private func states(_ answer: ServerAnswer) throws -> [String?]? {
        (try answer.json()["titles"] as? [[String: String]])?.map { $0["state"] }
    }

    func testADialectNeedsItsSource() throws {
        let yaml = "dialects: [tmdb]\nsources: { films: { type: sample } }"
        XCTAssertThrowsError(
            try ServerContext.examined(
                try ConfigurationFile(environment: [:]).parse(yaml), .standard, logger: RunningServer.silent)
        ) { error in XCTAssertTrue("\(error)".contains("needs a source with the name “tmdb”"), "\(error)") }
    }

    private let isAway = Shared(false)
    private let confirmed = Shared(0)
    /// The keys with which the service was asked.
    private let seen = Shared<Set<String>>([])

    /// A service and its pictures, whose names have their sides.
    private func tmdb() async throws -> OriginServer {
        let (isAway, confirmed, seen) = (isAway, confirmed, seen)
        return try await origin { target, fields in
            if isAway.withLock({ $0 }) { return .hangUp }
            let path = String(target.split(separator: "?")[0])
            let name = path.split(separator: "/").last ?? ""
            if path.hasPrefix("/p/") {
                let sides = (name.split(separator: ".").first ?? "").split(separator: "-").compactMap { Int($0) }
                guard sides.count == 2, let picture = try? Picture.jpeg(width: sides[0], height: sides[1]) else {
                    return .answer(status: 404)
                }
                return .answer(type: "image/jpeg", fields: ["Cache-Control": "public, max-age=31919000"], body: picture)
            }
            seen.withLock { _ = $0.insert(fields["authorization"] ?? "") }
            func json(_ text: String, _ status: Int = 200) -> OriginAnswer {
                .answer(status: status, type: "application/json", fields: ["ETag": "W/\"1\""], body: ByteBuffer(string: text))
            }
            if fields["if-none-match"] == "W/\"1\"" {
                confirmed.withLock { $0 += 1 }
                return .answer(status: 304)
            }
            switch path {
            case "/api/movie/550":
                return json(target.contains("fr-FR") ? Self.film.replacing(bytesOf: "40-60", with: "60-90") : Self.film)
            case "/api/movie/551": return json(Self.newFilm)
            case "/api/movie/popular": return json(#"{"results":[{"id":550,"title":"Film"}],"total_pages":1}"#)
            case "/api/movie/550/images":
                return json(#"{"posters":[{"file_path":"/40-60.jpg","iso_639_1":"en","vote_average":8,"vote_count":40}]}"#)
            // A page for people.
            case "/api/movie/901": return .answer(status: 404, type: "text/html", body: ByteBuffer(string: "<h1>404</h1>"))
            case "/api/movie/902": return .answer(status: 404)
            case "/api/movie/900": return .answer(type: "text/html", body: ByteBuffer(string: "<p>Sorry"))
            default: return json(Self.missing, 404)
            }
        }
    }

    private func server(
        _ tmdb: OriginServer, keys: String = "", credential: String = "token: ours", clock: WallClock = .system
    ) async throws -> RunningServer {
        try await server(
            sources: self.tmdb("\(tmdb.url)/api", variables: "\(credential), pictures: \"\(tmdb.url)/p\""),
            keys: "dialects: [tmdb]\n\(keys)", clock: clock)
    }
}

/// A value that a test and its origin share.
private final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}
