import HTTPTypes
import OnesheetCore
import OnesheetHTTP
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// The effects of `DELETE /cache/…`.
final class PurgeTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    func testThatEachSelectionIsCountedAndThenRemoved() async throws {
        for query in ["/cache/?all", "/cache/?tag=source:sample", "/cache/sample", "/cache/sample/1"] {
            // Given a server with an original, a variant, and facts about the poster
            let server = try await server(keys: "admin: { token: secret-for-tests }")
            _ = try await server.send("/t/p/w92/sample/1.jpg")
            // When they are purged, first as a dry run
            let mark = query.contains("?") ? "&" : "?"
            let shown = try await server.send("\(query)\(mark)dry-run", method: "DELETE", fields: administrator)
            let purged = try await server.send(query, method: "DELETE", fields: administrator)
            let again = try await server.send(query, method: "DELETE", fields: administrator)
            // Then both counts are equal, and none is left
            XCTAssertEqual(try shown.json()["entries"] as? Int, 3, "\(query): \(shown.text)")
            XCTAssertEqual(purged.text, shown.text, query)
            XCTAssertEqual(try again.json()["entries"] as? Int, 0, query)
        }
    }

    func testPurgeTakesTheAddressOfAnImage() async throws {
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        for address in [
            "/t/p/w92/sample/1.jpg", "https%3A%2F%2Fa.example%2Fi%2Funsafe%2Fw%3A60%2Fplain%2Fsample%3A%2F%2F1%40png",
            "sample%3A%2F%2F1",
        ] {
            _ = try await server.send("/t/p/w92/sample/1.jpg")
            _ = try await server.send("/t/p/w92/sample/2.jpg")
            let removed = try await server.send("/cache/?url=\(address)", method: "DELETE", fields: administrator)
            XCTAssertEqual(try removed.json()["entries"] as? Int, 3, "\(address): \(removed.text)")
        }
        let kept = try await server.send("/cache/?all&dry-run", method: "DELETE", fields: administrator)
        XCTAssertEqual(try kept.json()["entries"] as? Int, 3, kept.text)
        for query in ["url=/nowhere", "url=/t/p/w92/sample/1.jpg&all", "url=/t/p/w92/nobody/1.jpg"] {
            let wrong = try await server.send("/cache/?\(query)", method: "DELETE", fields: administrator)
            XCTAssertTrue([400, 404].contains(wrong.status), "\(query): \(wrong.text)")
        }
    }

    func testThatWhatHasExpiredIsRemovedAndNothingElse() async throws {
        // Given a poster of a week ago, and one of today
        let clock = ManualClock()
        let server = try await server(keys: "admin: { token: secret-for-tests }", clock: clock.wallClock)
        _ = try await server.send("/t/p/w92/sample/1.jpg")
        clock.advance(by: .seconds(8 * 86_400))
        _ = try await server.send("/t/p/w92/sample/2.jpg")
        // When expired entries are purged
        let removed = try await server.send("/cache/?expired", method: "DELETE", fields: administrator)
        // Then the old one is removed, and the new one is kept
        XCTAssertEqual(try removed.json()["entries"] as? Int, 3)
        let kept = try await server.send("/cache/?all&dry-run", method: "DELETE", fields: administrator)
        XCTAssertEqual(try kept.json()["entries"] as? Int, 3)
    }

    func testThatAnUnknownSourceIsNotFound() async throws {
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        for path in ["/cache/sampel", "/cache/sampel/1"] {
            let answer = try await server.send(path, method: "DELETE", fields: administrator)
            assertProblem(answer, 404, "unknown source “sampel”; did you mean “sample”?", context: path)
        }
    }

    func testThatAPurgeThatFailsSaysSoWithoutThePlaceOfTheCache() async throws {
        // Given a server whose cache cannot be written, not even by root
        let server = try await server(keys: "admin: { token: secret-for-tests }", cache: "/sys/onesheet-cache")
        // When everything is purged
        let answer = try await server.send("/cache/?all", method: "DELETE", fields: administrator)
        // Then the error says that the cache failed, without its path
        assertProblem(answer, 500, "the server's log has the details")
        XCTAssertEqual(try answer.json()["title"] as? String, "Cache failed")
        XCTAssertFalse(answer.text.contains("/sys/"), answer.text)
    }

    func testThatEveryFailureOfACacheIsToldWithoutPaths() {
        let table: [(CacheError, String)] = [
            (.fileSystem(operation: "write", path: "/srv/c/a", reason: "No space left on device"), "No space left on device"),
            (.index(operation: "remove from", reason: "cannot open /srv/c/index.sqlite"), "cannot remove from the cache index"),
            (.tier(operation: "remove", reason: "/srv/shared is gone"), "cannot remove"), (.notACache(path: "/srv/c"), "not a"),
        ]
        for (error, words) in table {
            let problem = Problem(error, at: 0)
            XCTAssertEqual(problem.status, .internalServerError, "\(error)")
            XCTAssertTrue(problem.detail.contains(words), problem.detail)
            XCTAssertFalse(problem.detail.contains("/srv"), problem.detail)
        }
    }

    func testThatUnknownAndContradictoryParametersRemoveNothing() async throws {
        // Given a server with a cached poster
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        _ = try await server.send("/t/p/w92/sample/1.jpg")
        let table = [
            ("/cache/sample/1?all&dry-run", "“all” in the query and a source in the path cannot be combined"),
            ("/cache/sample?expired", "“expired” in the query and a source in the path cannot be combined"),
            ("/cache/sample?tag=source:sample", "“tag” in the query and a source in the path cannot be combined"),
            ("/cache/sample?dryrun", "unknown parameter “dryrun”; did you mean “dry-run”?"),
            ("/cache/?all&dry_run", "unknown parameter “dry_run”; did you mean “dry-run”?"),
            ("/cache/?tag=a&tag=source:sample", "“tag” more than once"), ("/cache/?all=false", "“false” is not a value of a flag"),
            ("/cache/?all&dry-run=no", "“no” is not a value of a flag"), ("/cache/?tag=", "is not a tag"),
            ("/cache/?tag", "is not a tag"),
        ]
        for (path, words) in table {
            // When it is purged with parameters that make no sense
            let answer = try await server.send(path, method: "DELETE", fields: administrator)
            // Then the parameter is named
            assertProblem(answer, 400, words, context: path)
        }
        let verified = try await server.send("/cache/verify?repiar", method: "POST", fields: administrator)
        assertProblem(verified, 400, "unknown parameter “repiar”; did you mean “repair”?")
        // And nothing is removed
        let kept = try await server.send("/cache/?all&dry-run=true", method: "DELETE", fields: administrator)
        XCTAssertEqual(try kept.json()["entries"] as? Int, 3, kept.text)
    }

    func testThatAnEmptyPartOfThePathRemovesNothing() async throws {
        // Given a server with a cached poster
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        _ = try await server.send("/t/p/w92/sample/1.jpg")
        for (path, status, words) in [
            ("/cache/sample/", 400, "the id is missing after “sample/”"), ("/cache/sample/?dry-run", 400, "the id is missing"),
            ("/cache//sample", 404, "there is nothing at"), ("/cache//sample/1", 404, "there is nothing at"),
            ("/cache//", 404, "there is nothing at"),
        ] {
            // When a path without a source or without an id is purged
            let answer = try await server.send(path, method: "DELETE", fields: administrator)
            // Then it is refused
            assertProblem(answer, status, words, context: path)
        }
        // And nothing is removed
        let kept = try await server.send("/cache/?all&dry-run", method: "DELETE", fields: administrator)
        XCTAssertEqual(try kept.json()["entries"] as? Int, 3, kept.text)
    }

    func testThatNothingNamedRemovesNothing() async throws {
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        _ = try await server.send("/t/p/w92/sample/1.jpg")

        for query in ["/cache/", "/cache/?dry-run", "/cache/?all&expired"] {
            let answer = try await server.send(query, method: "DELETE", fields: administrator)
            assertProblem(answer, 400, "exactly one of “all”, “expired” and “tag”", context: query)
        }

        let expired = try await server.send("/cache/?expired", method: "DELETE", fields: administrator)
        XCTAssertEqual(try expired.json()["entries"] as? Int, 0)
        let kept = try await server.send("/cache/?all&dry-run", method: "DELETE", fields: administrator)
        XCTAssertEqual(try kept.json()["entries"] as? Int, 3)
    }
}
