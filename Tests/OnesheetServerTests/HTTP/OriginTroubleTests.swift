import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Temporarily overloaded origins, seen by clients.
final class OriginTroubleTests: ServerTestCase {
    private let clock = ManualClock()

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
