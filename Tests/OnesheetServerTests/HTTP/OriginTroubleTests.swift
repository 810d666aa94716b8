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

    func testThatAHostThatAsksForRestIsLeftAloneForSoLong() async throws {
        // Given a host that asks to be left alone for half a minute, once
        let body = try Picture.jpeg()
        let calls = CallCount()
        let origin = try await origin { _, _ in
            calls.next() == 1
                ? .answer(status: 503, fields: ["Retry-After": "30"]) : .answer(type: "image/jpeg", body: body)
        }
        let server = try await server(sources: web(origin), clock: clock.wallClock)
        let first = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
        assertProblem(first, 502, "503")
        // When another of its pictures is asked for in that time
        for (seconds, left) in [(0, "30"), (10, "20"), (19, "1")] {
            clock.advance(by: .seconds(seconds))
            let second = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/b@jpg")
            // Then clients are told how much of it is left, and the host is not asked
            assertProblem(second, 503, "left alone")
            XCTAssertEqual(second.field("Retry-After"), left)
            XCTAssertEqual(origin.requests(), 1)
        }
        // And when it is over, both are there
        clock.advance(by: .seconds(2))
        for name in ["b", "a"] {
            let later = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/\(name)@jpg")
            XCTAssertEqual(later.status, 200, later.text)
        }
        XCTAssertEqual(origin.requests(), 3)
    }
}
