import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetServer

/// Temporarily overloaded origins, seen by clients.
final class OriginTroubleTests: ServerTestCase {
    private let clock = ManualClock()

    func testThatFieldsOfAnOriginThatCannotBeComparedFastAreRead() async throws {
        // Given an origin whose fields have thousands of combining marks
        let body = try Picture.jpeg()
        let marks = String(repeating: "\u{301}", count: 1000) + String(repeating: "\u{316}", count: 1000)
        let origin = try await origin { _, _ in
            .answer(
                type: "image/jpeg",
                fields: [
                    "Last-Modified": "Sun, 06 \(marks) 1994 08:49:37 GMT", "Cache-Control": "max-age=60, \(marks)",
                ], body: body)
        }
        let server = try await server(sources: web(origin))
        // When its picture is asked for
        let answer = try await server.send("/i/unsafe/w:10/plain/\(origin.url)/film@jpg")
        // Then it is served without a date that is none, and kept as the origin wants
        XCTAssertEqual(answer.status, 200)
        XCTAssertNil(answer.field("Last-Modified"))
        let seconds = (answer.field("Cache-Control") ?? "").split(separator: "max-age=").last?.prefix { $0.isNumber }
        XCTAssertLessThanOrEqual(Int(try XCTUnwrap(seconds)) ?? .max, 60)
    }

    func testSourceIsIllWithItsHost() async throws {
        // Given two sources of which one host hangs up
        let body = try Picture.jpeg()
        let isUp = Mutex(false)
        let origin = try await origin { _, _ in isUp.withLock { $0 } ? .answer(type: "image/jpeg", body: body) : .hangUp }
        let server = try await server(
            sources: """
                \(web(origin))
                any: { type: remote, allow: ["http://127.0.0.1:*/"], networks: [loopback] }
                """, keys: "admin: { token: secret-for-tests }", clock: clock.wallClock)
        // When three of its images are asked for
        for name in ["a", "b", "c"] {
            let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/\(name)@jpg")
            XCTAssertEqual(answer.status, 502, answer.text)
        }
        // Then the source that names the host fails, and the one that allows any does not
        func sources(_ fields: [(String, String)] = []) async throws -> [[String: Any]] {
            let document = try await server.send("/sources", fields: fields).json()
            return try XCTUnwrap(document["sources"] as? [[String: Any]])
        }
        let seen = try await sources()
        XCTAssertEqual(seen.map { $0["name"] as? String }, ["web", "any"])
        XCTAssertEqual(seen.map { $0["state"] as? String }, ["failing", "well"])
        XCTAssertEqual(seen[0]["reason"] as? String, "a host of its images cannot be reached")
        XCTAssertEqual(seen[0]["since"] as? String, "2026-11-21T12:00:00Z")
        let metrics = try await server.send("/metrics").text
        for line in [
            #"onesheet_source_healthy{source="web"} 0"#, #"onesheet_source_healthy{source="any"} 1"#,
            "onesheet_origin_hosts_troubled 1",
        ] {
            XCTAssertTrue(metrics.contains(line), line)
        }
        // And only the administrator reads which host it is
        XCTAssertNil(seen[0]["details"])
        let own = try await sources([("Authorization", "Bearer secret-for-tests")])
        XCTAssertEqual(own[0]["details"] as? String, origin.url)
        // And it is well again with the host
        isUp.withLock { $0 = true }
        let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/d@jpg")
        XCTAssertEqual(answer.status, 200, answer.text)
        let later = try await sources()
        XCTAssertEqual(later.map { $0["state"] as? String }, ["well", "well"])
    }

    func testThatClientsDoNotNoticeAFailureThatIsOverTheNextMoment() async throws {
        // Given an origin that fails twice
        let body = try Picture.jpeg()
        let calls = CallCount()
        let origin = try await origin { _, _ in
            calls.next() <= 2 ? .answer(status: 503) : .answer(type: "image/jpeg", body: body)
        }
        let server = try await server(sources: web(origin), clock: clock.wallClock)
        // When its picture is requested
        let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
        // Then the third attempt succeeds
        XCTAssertEqual(answer.status, 200, answer.text)
        XCTAssertEqual(try Picture.header(answer.body).width, 60)
        XCTAssertEqual(origin.requests(), 3)
    }

    func testThatAPictureWhoseHostAsksForRestIsLeftAloneForSoLong() async throws {
        // Given a host that sends `Retry-After` of half a minute, once and for one picture
        let body = try Picture.jpeg()
        let calls = CallCount()
        let origin = try await origin { _, _ in
            calls.next() == 1
                ? .answer(status: 503, fields: ["Retry-After": "30"]) : .answer(type: "image/jpeg", body: body)
        }
        let server = try await server(sources: web(origin), clock: clock.wallClock)
        // When that picture is requested within that time
        for (seconds, left) in [(0, "30"), (10, "20"), (19, "1")] {
            clock.advance(by: .seconds(seconds))
            let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
            // Then clients get the remaining time, and the host is not asked
            assertProblem(answer, 503, "is paused for")
            XCTAssertEqual(answer.field("Retry-After"), left)
            XCTAssertEqual(origin.requests(), 1)
        }
        // And its other pictures are served
        let other = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/b@jpg")
        XCTAssertEqual(other.status, 200, other.text)
        // And after that time, this one is too
        clock.advance(by: .seconds(2))
        let later = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
        XCTAssertEqual(later.status, 200, later.text)
        XCTAssertEqual(origin.requests(), 3)
    }
}
