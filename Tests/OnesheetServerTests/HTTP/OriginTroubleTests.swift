import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Origins that cannot keep up for a while, and what their clients notice of it.
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
        // When its picture is asked for
        let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
        // Then it comes, at the third attempt
        XCTAssertEqual(answer.status, 200, answer.text)
        XCTAssertEqual(try Picture.header(answer.body).width, 60)
        XCTAssertEqual(origin.requests(), 3)
    }

    func testThatAPictureWhoseHostAsksForRestIsLeftAloneForSoLong() async throws {
        // Given a host that asks, for one picture and once, to come back in half a minute
        let body = try Picture.jpeg()
        let calls = CallCount()
        let origin = try await origin { _, _ in
            calls.next() == 1
                ? .answer(status: 503, fields: ["Retry-After": "30"]) : .answer(type: "image/jpeg", body: body)
        }
        let server = try await server(sources: web(origin), clock: clock.wallClock)
        // When that picture is asked for in that time
        for (seconds, left) in [(0, "30"), (10, "20"), (19, "1")] {
            clock.advance(by: .seconds(seconds))
            let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
            // Then clients are told how much of it is left, and the host is not asked again
            assertProblem(answer, 503, "is paused for")
            XCTAssertEqual(answer.field("Retry-After"), left)
            XCTAssertEqual(origin.requests(), 1)
        }
        // And its other pictures come all the same
        let other = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/b@jpg")
        XCTAssertEqual(other.status, 200, other.text)
        // And when the time is over, this one does too
        clock.advance(by: .seconds(2))
        let later = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
        XCTAssertEqual(later.status, 200, later.text)
        XCTAssertEqual(origin.requests(), 3)
    }
}
