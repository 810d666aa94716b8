import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// The effects of `DELETE /cache/…`.
final class PurgeTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret")]

    func testThatEachSelectionIsCountedAndThenRemoved() async throws {
        for query in ["/cache/?all", "/cache/?tag=source:sample", "/cache/sample", "/cache/sample/1"] {
            // Given a server with an original, a variant, and facts about the poster
            let server = try await server(keys: "admin: { token: secret }")
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

    func testThatWhatHasExpiredIsRemovedAndNothingElse() async throws {
        // Given a poster of a week ago, and one of today
        let clock = ManualClock()
        let server = try await server(keys: "admin: { token: secret }", clock: clock.wallClock)
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

    func testThatNothingNamedRemovesNothing() async throws {
        let server = try await server(keys: "admin: { token: secret }")
        _ = try await server.send("/t/p/w92/sample/1.jpg")

        for query in ["/cache/", "/cache/?dry-run", "/cache/?all&expired"] {
            let answer = try await server.send(query, method: "DELETE", fields: administrator)
            XCTAssertEqual(answer.status, 404, "\(query): \(answer.text)")
        }

        let expired = try await server.send("/cache/?expired", method: "DELETE", fields: administrator)
        XCTAssertEqual(try expired.json()["entries"] as? Int, 0)
        let kept = try await server.send("/cache/?all&dry-run", method: "DELETE", fields: administrator)
        XCTAssertEqual(try kept.json()["entries"] as? Int, 3)
    }
}
