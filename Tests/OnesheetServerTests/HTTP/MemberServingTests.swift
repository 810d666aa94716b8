import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetServer

/// A source of two databases over HTTP.
final class MemberServingTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    func testImageOfTheBestMemberIsServedAndPurgedWithIt() async throws {
        // Given a film with an English poster at one database, and a Korean one at the other
        let databases = try await databases()
        let server = try await server(databases)
        let width = try Picture.header(try await server.send("/t/p/original/all/550").body).width

        // When what is known of it is asked for
        let posters = try await server.send("/sources/all/titles/550/posters").text
        let explanation = try await server.send("/explain?url=/t/p/original/all/550").text
        let title = try await server.send("/sources/all/titles/550").text

        // Then each response names the database of the image, and each database was asked each question once
        XCTAssertEqual(width, 44)
        XCTAssertTrue(posters.contains(#""source":"fanart://550""#), posters)
        XCTAssertTrue(explanation.contains("an image of fanart://550"), explanation)
        XCTAssertTrue(title.contains(#""ids":{"imdb":"tt0137523","tmdb":"550"}"#), title)
        // fanart.tv has one document for its images and its texts, which are two questions.
        for (path, count) in [("/fanart/movies/550", 2), ("/tmdb/movie/550/images", 1), ("/pictures/44-60.jpg", 1)] {
            XCTAssertEqual(databases.requests(for: path), count, path)
        }

        // When that member's title is purged
        let purge = try await server.send("/cache/?tag=title:fanart://550", method: "DELETE", fields: administrator)
        _ = try await server.send("/t/p/original/all/550")

        // Then the picture is fetched again
        XCTAssertEqual(purge.status, 200, purge.text)
        XCTAssertEqual(databases.requests(for: "/pictures/44-60.jpg"), 2)
    }

    func testOtherMemberServesWhileOneIsDown() async throws {
        // Given
        let server = try await server(try await databases(fails: true))

        // When
        let answer = try await server.send("/t/p/original/all/550")

        // Then
        XCTAssertEqual(answer.status, 200, answer.text)
        XCTAssertEqual(try Picture.header(answer.body).width, 40)
    }

    func testIDsOfAnotherDatabaseShareTheImageOfTheOwnOne() async throws {
        // Given a server that knows nothing
        let (databases, cache) = (try await databases(), folder())
        let earlier = try await server(databases, cache: cache)
        // When the image is requested by each id
        for path in ["imdb:tt0137523", "tt0137523", "tmdb:550", "550", "imdb%3Att0137523.jpg", "550.jpg"] {
            let answer = try await earlier.send("/t/p/original/tmdb/\(path)")
            // Then it is one image, whose address is that of the own id
            XCTAssertEqual(answer.status, 200, answer.text)
            XCTAssertEqual(answer.field("Link")?.hasPrefix("</t/p/original/tmdb/550"), true, "\(path) \(answer.fields)")
        }
        let first = try await earlier.send("/i/unsafe/w:20/plain/tmdb://imdb:tt0137523@png")
        let second = try await earlier.send("/i/unsafe/w:20/plain/tmdb://550@png")
        XCTAssertEqual(first.field("ETag"), second.field("ETag"))
        XCTAssertEqual(second.field("Cache-Status")?.contains("hit"), true, "\(second.fields)")
        // And a source of several takes the ids of the first
        let all = try await earlier.send("/t/p/original/all/imdb:tt0137523")
        XCTAssertEqual(try Picture.header(all.body).width, 44)
        _ = try await earlier.send("/t/p/original/all/550")
        for path in [
            "/tmdb/find/tt0137523?external_source=imdb_id", "/pictures/40-60.jpg", "/pictures/44-60.jpg", "/tmdb/movie/550/images",
        ] {
            XCTAssertEqual(databases.requests(for: path), 1, path)
        }
        // When an id means nothing, then that is remembered too
        for _ in 0..<2 { assertProblem(try await earlier.send("/t/p/original/tmdb/imdb:tt9"), 404, "there is no title") }
        XCTAssertEqual(databases.requests(for: "/tmdb/find/tt9?external_source=imdb_id"), 1)
        await earlier.finishStoring()
        await earlier.stop()

        // When the server starts again
        let later = try await server(databases, cache: cache)
        let explained = try await later.send("/explain?url=/t/p/original/tmdb/tt0137523").text
        let kept = try await later.send("/t/p/original/tmdb/imdb:tt0137523")
        // Then it remembers
        XCTAssertTrue(explained.contains(#""title":"tmdb://550""#), explained)
        XCTAssertEqual(kept.field("Cache-Status")?.contains("hit"), true, "\(kept.fields)")
        XCTAssertEqual(databases.requests(for: "/tmdb/find/tt0137523?external_source=imdb_id"), 1)
        // And a purge by the other id is one of the title
        let purge = try await later.send("/cache/tmdb/imdb:tt0137523", method: "DELETE", fields: administrator)
        XCTAssertEqual(purge.status, 200, purge.text)
        let gone = try await later.send("/explain?url=/t/p/original/tmdb/550").json()
        XCTAssertNil(gone["stored"], "\(gone)")
    }

    func testAdministratorStatesMatches() async throws {
        // Given a film that is matched by an id
        let (databases, cache, path) = (try await databases(), folder(), "/sources/all/titles/550/poster")
        var server = try await server(databases, cache: cache)
        let before = try Picture.header(try await server.send("/t/p/original/all/550").body).width
        XCTAssertEqual(before, 44)
        for (order, width) in [(#""551""#, 46), (#""none""#, 40), ("null", 44), (#""551""#, 46)] {
            // When the administrator says what it is at a member
            let answer = try await server.send(
                path, method: "PUT", fields: administrator, body: #"{"match":{"fanart":\#(order)}}"#)
            // Then its image is that one's
            XCTAssertEqual(answer.status, 200, answer.text)
            let poster = try await server.send("/t/p/original/all/550")
            XCTAssertEqual(try Picture.header(poster.body).width, width, order)
        }
        let explained = try await server.send("/explain?url=/t/p/original/all/550").text
        XCTAssertTrue(explained.contains("stated by the administrator"), explained)
        // And that survives a restart, until the decisions are forgotten
        await server.finishStoring()
        await server.stop()
        server = try await self.server(databases, cache: cache)
        let posters = try await server.send("/sources/all/titles/550/posters").text
        XCTAssertTrue(posters.contains(#""matches":{"fanart":"551"}"#), posters)
        _ = try await server.send("/cache/?all", method: "DELETE", fields: administrator)
        let kept = try Picture.header(try await server.send("/t/p/original/all/550").body).width
        XCTAssertEqual(kept, 46)
        _ = try await server.send(path, method: "DELETE", fields: administrator)
        let forgotten = try Picture.header(try await server.send("/t/p/original/all/550").body).width
        XCTAssertEqual(forgotten, 44)
        // And what cannot be is an error
        for (path, body, reason) in [
            (path, #"{"match":{"fanrat":"1"}}"#, "did you mean “fanart”"), (path, #"{"match":{"tmdb":"1"}}"#, "known: fanart"),
            ("/sources/tmdb/titles/550/poster", #"{"match":{"fanart":"1"}}"#, "is not made of several"),
        ] {
            assertProblem(try await server.send(path, method: "PUT", fields: administrator, body: body), 400, reason)
        }
        let stranger = try await server.send(path, method: "PUT", body: #"{"match":{"fanart":"551"}}"#)
        XCTAssertEqual(stranger.status, 401, stranger.text)
    }

    func testStatedIDIsCheckedAtItsMember() async throws {
        // Given
        let server = try await server(try await databases())
        let path = "/sources/all/titles/550/poster"
        func state(_ id: String) async throws -> ServerAnswer {
            try await server.send(path, method: "PUT", fields: administrator, body: #"{"match":{"fanart":"\#(id)"}}"#)
        }
        // When an id is stated that the member does not have, then it is an error and not stated
        assertProblem(try await state("9"), 400, "“fanart” has no title “9”")
        let before = try await server.send("/sources/all/titles/550/posters").text
        XCTAssertFalse(before.contains("matches"), before)
        // When it does not answer, then it is stated, and the answer says so
        let unchecked = try await state("8").json()
        XCTAssertEqual(unchecked["unchecked"] as? [String], ["fanart"])
        XCTAssertEqual((unchecked["decision"] as? [String: Any])?["matches"] as? [String: String], ["fanart": "8"])
        // When it has the id
        for id in ["551", "none"] {
            let checked = try await state(id).json()
            // Then nothing more is said
            XCTAssertNil(checked["unchecked"])
            XCTAssertEqual((checked["decision"] as? [String: Any])?["matches"] as? [String: String], ["fanart": id])
        }
    }

    func testStatementIsAnsweredWhileNoMemberHasCandidates() async throws {
        // Given a title about which no database answers
        let server = try await server(try await databases())
        // When its id there is stated
        let answer = try await server.send(
            "/sources/all/titles/999/poster", method: "PUT", fields: administrator, body: #"{"match":{"fanart":"8"}}"#)
        // Then the answer is what was stated, and that it could not be checked
        XCTAssertEqual(answer.status, 200, answer.text)
        let document = try answer.json()
        XCTAssertEqual(document["unchecked"] as? [String], ["fanart"])
        XCTAssertEqual((document["decision"] as? [String: Any])?["matches"] as? [String: String], ["fanart": "8"])
        XCTAssertEqual((document["candidates"] as? [Any])?.count, 0)
    }

    func testUnreadableMatchIsReported() async throws {
        // Given a stated match, whose value in the state is damaged
        let (databases, cache, log) = (try await databases(), folder(), LogRecorder())
        let earlier = try await server(databases, cache: cache)
        let answer = try await earlier.send(
            "/sources/all/titles/550/poster", method: "PUT", fields: administrator, body: #"{"match":{"fanart":"551"}}"#)
        XCTAssertEqual(answer.status, 200, answer.text)
        await earlier.stop()
        try await StateStore(folder: cache).part("posters").set("{", for: "title all://550")
        // When
        let server = try await server(databases, cache: cache, logger: log.logger)
        let poster = try await server.send("/t/p/original/all/550")
        // Then an image is better than none, and the log says what is missing
        XCTAssertEqual(try Picture.header(poster.body).width, 44)
        XCTAssertTrue(log.all.contains { $0.contains("the stated matches of titles cannot be read") }, "\(log.all)")
    }

    /// Two databases and their pictures, which only those get that send the header of the member.
    private func databases(fails: Bool = false) async throws -> OriginServer {
        try await origin { target, fields in
            func json(_ text: String) -> OriginAnswer { .answer(type: "application/json", body: ByteBuffer(string: text)) }
            func picture(_ width: Int, for member: String) -> OriginAnswer {
                guard fields["x-member"] == member, let picture = try? Picture.jpeg(width: width, height: 60) else {
                    return .answer(status: 403)
                }
                return .answer(type: "image/jpeg", body: picture)
            }
            switch String(target.split(separator: "?")[0]) {
            case "/tmdb/movie/550": return json(#"{"id":550,"imdb_id":"tt0137523","title":"Film","original_language":"en"}"#)
            case "/tmdb/movie/550/images":
                return json(#"{"posters":[{"file_path":"/40-60.jpg","iso_639_1":"en","vote_average":8,"vote_count":40}]}"#)
            case "/tmdb/find/tt0137523": return json(#"{"movie_results":[{"id":550}]}"#)
            case "/tmdb/find/tt9": return json(#"{"movie_results":[]}"#)
            case "/fanart/movies/9": return .answer(status: 404)
            case "/fanart/movies/551":
                return json(
                    """
                    {"tmdb_id":"551","name":"Other","movieposter":[{"url":"http://\(fields["host"] ?? "")/pictures/46-60.jpg","lang":"ko"}]}
                    """)
            case "/fanart/movies/550" where !fails:
                return json(
                    """
                    {"tmdb_id":"550","name":"Film","movieposter":[{"url":"http://\(fields["host"] ?? "")/pictures/44-60.jpg","lang":"ko"}]}
                    """)
            case "/pictures/40-60.jpg": return picture(40, for: "tmdb")
            case "/pictures/44-60.jpg": return picture(44, for: "fanart")
            case "/pictures/46-60.jpg": return picture(46, for: "fanart")
            default: return .answer(status: 500)
            }
        }
    }

    private func server(
        _ databases: OriginServer, cache: String? = nil, logger: Logger = RunningServer.silent
    ) async throws -> RunningServer {
        func member(_ name: String, _ variables: String) -> String {
            """
            \(name):
              type: rest
              manifest: \(name)
              variables: { \(variables) }
              baseURL: "\(databases.url)/\(name)"
              headers: { X-Member: \(name) }
              networks: [loopback]

            """
        }
        return try await server(
            sources: "all: { type: first, sources: [tmdb, fanart], languages: [ko, original, none] }\n"
                + member("tmdb", "token: t, pictures: \"\(databases.url)/pictures\"") + member("fanart", "key: k"),
            keys: "admin: { token: secret-for-tests }\nsigning: { unsafe: true }", cache: cache, logger: logger)
    }
}
