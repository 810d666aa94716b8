import Foundation
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// The poster of a search over HTTP: anyone may look at it, and the administrator decides.
final class PosterChoiceTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]
    private let path = "/sources/kakao/titles/film"

    func testThatThePosterIsServedWhereTheFirstHitIsANewsPhoto() async throws {
        // Given a search whose best hit is a news photo
        let server = try await search()
        // When the poster is requested
        let picture = try await server.send("/t/p/original/kakao/film")
        // Then it has a poster's shape, and the choice names the reasons
        XCTAssertEqual(picture.status, 200, picture.text)
        XCTAssertEqual(try Picture.header(picture.body).width, 160)
        let document = try await server.send("\(path)/posters").json()
        let candidates = try XCTUnwrap(document["candidates"] as? [[String: Any]])
        XCTAssertEqual(candidates.map { $0["state"] as? String }, [nil, "chosen", nil], "\(document)")
        XCTAssertEqual(candidates.map { $0["candidate"] as? Int }, [1, 2, 3])
        let current = try XCTUnwrap(document["current"] as? [String: Any])
        XCTAssertEqual(current["page"] as? String, "http://127.0.0.1/page/b")
        XCTAssertEqual(current["site"] as? String, "site b")
        XCTAssertNotNil(current["fetched"])
    }

    func testVisitorsReadNoKeyOfACandidate() async throws {
        // Given candidates whose URLs have keys, one of them rejected
        let server = try await search(query: "?apikey=SECRETKEY1")
        let rejected = try await server.send("\(path)/poster", method: "PUT", fields: administrator, body: "{\"reject\": 1}")
        XCTAssertEqual(rejected.status, 200, rejected.text)
        _ = try await server.send("/t/p/original/kakao/film")
        // When a visitor looks at them, and the administrator
        let visitors = try await server.send("\(path)/posters")
        let plain = try await server.send("/?plain&source=kakao&posters=film")
        let whole = try await server.send("\(path)/posters", fields: administrator)
        // Then only the administrator reads the keys, and all read the rest
        XCTAssertFalse((visitors.text + plain.text).contains("SECRETKEY1"), visitors.text)
        for (text, names) in [(visitors.text, "[0-9]/[abc]\""), (whole.text, "[0-9]/[abc]\\?apikey=SECRETKEY1\"")] {
            // Three candidates, the current one and the rejected one
            XCTAssertEqual(text.matches(of: try Regex(names)).count, 5, text)
        }
        let states = try XCTUnwrap(try visitors.json()["candidates"] as? [[String: Any]]).map { $0["state"] as? String }
        XCTAssertEqual(states, ["rejected", "chosen", nil])
    }

    func testThatEachCandidateCanBeLookedAt() async throws {
        // Given a search that finds three pictures
        let server = try await search()
        // When each picture is requested twice
        var widths: [Int] = []
        for number in [1, 2, 3, 1] {
            let picture = try await server.send("\(path)/posters/\(number)")
            XCTAssertEqual(picture.status, 200, picture.text)
            XCTAssertEqual(picture.field("Content-Type"), "image/jpeg")
            widths.append(try Picture.header(picture.body).width)
        }
        // Then each is correct, and the poster is unchanged
        XCTAssertEqual(widths, [284, 160, 120, 284])
        let poster = try await server.send("/t/p/original/kakao/film")
        XCTAssertEqual(try Picture.header(poster.body).width, 160)
        assertProblem(try await server.send("\(path)/posters/4"), 404, "has 1 to 3")
        assertProblem(try await server.send("\(path)/posters/0"), 404, "has 1 to 3")
    }

    func testThatACandidatesPictureAnswersAsEveryImageDoes() async throws {
        // Given a candidate that was looked at
        let server = try await search()
        let first = try await server.send("\(path)/posters/2")
        let tag = try XCTUnwrap(first.field("ETag"))
        // When it is looked at again, as a whole, in part, and by a client that has it
        let whole = try await server.send("\(path)/posters/2")
        let part = try await server.send("\(path)/posters/2", fields: [("Range", "bytes=0-9")])
        let known = try await server.send("\(path)/posters/2", fields: [("If-None-Match", tag)])
        // Then it says where it comes from, and is kept for a minute, because numbers may change
        XCTAssertTrue(first.field("Cache-Status")?.hasPrefix("onesheet; fwd=miss") ?? false, "\(first.fields)")
        XCTAssertTrue(whole.field("Cache-Status")?.hasPrefix("onesheet; hit") ?? false, "\(whole.fields)")
        XCTAssertEqual(whole.field("Cache-Control"), "public, max-age=60")
        XCTAssertEqual(whole.field("Vary"), "Accept")
        XCTAssertEqual([part.status, known.status], [206, 304])
        XCTAssertEqual(part.body, whole.body.getSlice(at: whole.body.readerIndex, length: 10))
        XCTAssertEqual(known.field("ETag"), tag)
    }

    func testThatABlockedCandidateIsNotShown() async throws {
        // Given a poster whose picture was requested as a candidate, and which is blocked
        let server = try await search()
        let before = try await server.send("\(path)/posters/2")
        XCTAssertEqual(before.status, 200, before.text)
        let blocked = try await server.send("\(path)/poster", method: "PUT", fields: administrator, body: "{\"block\": true}")
        XCTAssertEqual(blocked.status, 200, blocked.text)
        // Then that picture is not served either
        assertProblem(try await server.send("\(path)/posters/2"), 404, "poster")
    }

    func testThatPinningChangesEverySizeAtOnce() async throws {
        // Given a poster in the cache in two sizes
        let server = try await search()
        let before = try await server.send("/t/p/w92/kakao/film.jpg")
        _ = try await server.send("/t/p/w154/kakao/film.jpg")
        // When the photo is pinned
        let answer = try await server.send("\(path)/poster", method: "PUT", fields: administrator, body: "{\"candidate\": 1}")
        // Then the next request gets it, in any size
        XCTAssertEqual(answer.status, 200, answer.text)
        let after = try await server.send("/t/p/w92/kakao/film.jpg")
        let other = try await server.send("/t/p/w154/kakao/film.jpg")
        XCTAssertGreaterThan(try Picture.header(before.body).height, 92)
        XCTAssertLessThan(try Picture.header(after.body).height, 92)
        XCTAssertLessThan(try Picture.header(other.body).height, 154)
    }

    func testThatUnpinningElectsAnew() async throws {
        // Given a pinned photo
        let server = try await search()
        _ = try await server.send("\(path)/poster", method: "PUT", fields: administrator, body: "{\"candidate\": 1}")
        // When the pin is removed
        _ = try await server.send("\(path)/poster", method: "DELETE", fields: administrator)
        // Then the poster is served again
        let picture = try await server.send("/t/p/original/kakao/film")
        XCTAssertEqual(try Picture.header(picture.body).width, 160)
    }

    func testThatARejectedPosterGivesWayToTheNext() async throws {
        let server = try await search()
        _ = try await server.send("\(path)/poster", method: "PUT", fields: administrator, body: "{\"reject\": 2}")
        let picture = try await server.send("/t/p/original/kakao/film")
        XCTAssertEqual(try Picture.header(picture.body).width, 120)
    }

    func testThatABlockedPictureIsListedAndCanBeReleased() async throws {
        // Given a blocked poster
        let server = try await search()
        let blocked = try await server.send("\(path)/poster", method: "PUT", fields: administrator, body: "{\"block\": true}")
        XCTAssertEqual(blocked.status, 200, blocked.text)
        let list = try await server.send("/blocked/", fields: administrator).json()["blocked"] as? [String]
        let hash = try XCTUnwrap(list?.first)
        let meanwhile = try await server.send("/t/p/original/kakao/film")
        // When it is unblocked
        let released = try await server.send("/blocked/\(hash)", method: "DELETE", fields: administrator)
        // Then the list of blocked pictures is empty; meanwhile the photo was the poster
        XCTAssertEqual(try released.json()["blocked"] as? [String], [])
        XCTAssertEqual(try Picture.header(meanwhile.body).width, 284)
    }

    func testThatADecisionIsReplacedOnlyIfItIsStillThatOne() async throws {
        // Given a pin after a rejection
        let server = try await search()
        let choice = "\(path)/poster"
        let first = try await server.send(choice, method: "PUT", fields: administrator, body: "{\"reject\": 3}")
        let second = try await server.send(choice, method: "PUT", fields: administrator, body: "{\"candidate\": 1}")
        let (before, after) = (try decision(first), try decision(second))
        // When the pin is undone twice
        let body = "{\"decision\": \(before), \"insteadOf\": \(after)}"
        let undone = try await server.send(choice, method: "PUT", fields: administrator, body: body)
        let again = try await server.send(choice, method: "PUT", fields: administrator, body: body)
        // Then only the rejection is left, and the second time nothing changes
        XCTAssertEqual(undone.status, 200, undone.text)
        XCTAssertEqual(try decision(undone), before)
        assertProblem(again, 409, "has changed meanwhile")
        let now = try await server.send("\(path)/posters")
        XCTAssertEqual(try decision(now), before)
        let picture = try await server.send("/t/p/original/kakao/film")
        XCTAssertEqual(try Picture.header(picture.body).width, 160)
        // When the decision is forgotten, and that is undone, then the rejection is back
        let forgotten = try await server.send(choice, method: "DELETE", fields: administrator)
        let restored = try await server.send(
            choice, method: "PUT", fields: administrator,
            body: "{\"decision\": \(before), \"insteadOf\": \(try decision(forgotten))}")
        XCTAssertEqual(try decision(restored), before)
        // And a pin needs a candidate
        let unknown = try await server.send(
            choice, method: "PUT", fields: administrator,
            body: "{\"decision\": {\"pinned\": \"nothing\", \"rejected\": []}, \"insteadOf\": \(before)}")
        assertProblem(unknown, 404, "no candidate “nothing”")
    }

    /// The decision of a document with candidates, as JSON.
    private func decision(_ answer: ServerAnswer) throws -> String {
        let document = try XCTUnwrap(try answer.json()["decision"] as? [String: Any], answer.text)
        return String(decoding: try JSONSerialization.data(withJSONObject: document, options: .sortedKeys), as: UTF8.self)
    }

    func testThatOnlyTheAdministratorDecides() async throws {
        let server = try await search()
        for (path, method) in [("\(path)/poster", "PUT"), ("\(path)/poster", "DELETE"), ("/blocked/", "GET")] {
            let answer = try await server.send(path, method: method, body: method == "PUT" ? "{\"candidate\": 1}" : nil)
            assertProblem(answer, 401, "bearer token")
        }
    }

    func testThatAnInvalidPosterChoiceIsRefusedWithTheReason() async throws {
        let server = try await search()
        let table = [
            ("{\"candidate\": 4}", 404, "candidate 4: kakao://film has 1 to 3"), ("{\"candidate\": 0}", 404, "has 1 to 3"),
            ("{\"reject\": 4}", 404, "has 1 to 3"),
            ("{}", 400, "needs exactly one of"), ("{\"candidate\": 1, \"reject\": 2}", 400, "needs exactly one of"),
            ("{\"decision\": {\"rejected\": []}}", 400, "needs exactly one of"),
            ("", 400, "is not JSON such as"),
            ("{\"rejekt\": 1}", 400, "unknown key “rejekt”; did you mean “reject”?"),
            ("[]", 400, "is not JSON such as"),
        ]
        for (body, status, words) in table {
            let answer = try await server.send("\(path)/poster", method: "PUT", fields: administrator, body: body)
            assertProblem(answer, status, words, context: body)
        }
        assertProblem(try await server.send("/blocked/xyz", method: "PUT", fields: administrator), 400, "16 hexadecimal digits")
        assertProblem(try await server.send("/sources/kakao/titles", method: "PUT", fields: administrator), 405, "GET")
    }

    /// A server with a search that finds a photo, announced as a poster, and the poster in two sizes.
    /// - Parameter query: that of each picture's URL.
    private func search(query: String = "") async throws -> RunningServer {
        let photo = ByteBuffer(bytes: try DrawnPoster(width: 284, height: 196, seed: 1).file(JPEGCodec()))
        let poster = ByteBuffer(bytes: try DrawnPoster(width: 160, height: 240, seed: 2).file(JPEGCodec()))
        let copy = ByteBuffer(bytes: try DrawnPoster(width: 120, height: 180, seed: 2).file(JPEGCodec()))
        let origin = try await origin { target, fields in
            switch target.prefix(2) {
            case "/a": .answer(type: "image/jpeg", body: photo)
            case "/b": .answer(type: "image/jpeg", body: poster)
            case "/c": .answer(type: "image/jpeg", body: copy)
            default: .answer(type: "application/json", body: ByteBuffer(string: Self.hits("http://\(fields["host"] ?? "")", query)))
            }
        }
        return try await server(
            sources: "kakao: { type: kakao, key: k, baseURL: \"\(origin.url)/search\", networks: [loopback] }",
            keys: "admin: { token: secret-for-tests }")
    }

    private static func hits(_ base: String, _ query: String) -> String {
        let hits = [("a", "movie.daum.net", 1000, 1430), ("b", "site b", 160, 240), ("c", "site c", 120, 180)].map {
            """
            {"collection":"blog","thumbnail_url":"\(base)/\($0.0)","image_url":"\(base)/\($0.0)\(query)","width":\($0.2),"height":\($0.3),\
            "display_sitename":"\($0.1)","doc_url":"http://127.0.0.1/page/\($0.0)","datetime":"2012-01-01T12:00:00.000+09:00"}
            """
        }
        return "{\"meta\":{\"total_count\":3,\"pageable_count\":3,\"is_end\":true},\"documents\":[\(hits.joined(separator: ","))]}"
    }
}
