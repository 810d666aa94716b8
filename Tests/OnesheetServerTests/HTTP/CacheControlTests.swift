import NIOCore
import OnesheetTesting
import Synchronization
import XCTest

/// What others are told about keeping an answer, word by word.
final class CacheControlTests: ServerTestCase {
    private let clock = ManualClock()

    func testThatAFreshAnswerSaysHowLongItIsFreshAndHowLongItServesStale() async throws {
        let body = try Picture.jpeg()
        for (said, expected) in [
            ("max-age=3600", "public, max-age=3600, stale-while-revalidate=60, stale-if-error=86400"),
            (
                "max-age=600, stale-while-revalidate=30, stale-if-error=1000",
                "public, max-age=600, stale-while-revalidate=30, stale-if-error=1000"
            ),
            ("max-age=600, must-revalidate", "public, max-age=600"),
            // A purge here has to reach them within a day.
            (
                "max-age=31536000, stale-if-error=31536000",
                "public, max-age=86400, stale-while-revalidate=60, stale-if-error=86400"
            ),
            ("no-store", "no-store"),
        ] {
            // Given what an origin says about its picture
            let origin = try await origin { _, _ in .answer(type: "image/jpeg", fields: ["Cache-Control": said], body: body) }
            let server = try await server(sources: web(origin), clock: clock.wallClock)
            // When the picture is asked for, and once more from memory
            for _ in 0..<2 {
                let answer = try await server.send(path(origin))
                // Then clients are told the same, as far as we keep to it
                XCTAssertEqual(answer.field("Cache-Control"), expected, said)
            }
        }
    }

    func testThatAnAnswerThatIsStaleBecauseTheOriginFailsIsNotFreshForAnybody() async throws {
        // Given a picture that may be shown for longer where its origin fails
        let body = try Picture.jpeg()
        let isWell = Mutex(true)
        let origin = try await origin { _, _ in
            guard isWell.withLock({ $0 }) else { return .answer(status: 500) }
            return .answer(
                type: "image/jpeg", fields: ["Cache-Control": "max-age=600, stale-while-revalidate=30, stale-if-error=1000"],
                body: body)
        }
        let server = try await server(sources: web(origin), clock: clock.wallClock)
        let first = try await server.send(path(origin))
        // When its time is up and the origin fails
        isWell.withLock { $0 = false }
        clock.advance(by: .seconds(700))
        let stale = try await server.send(path(origin))
        // Then it is shown, past its time for others too, who may show it no longer than we do
        XCTAssertEqual([first.status, stale.status], [200, 200])
        XCTAssertEqual(stale.body, first.body)
        XCTAssertEqual(stale.field("Age"), "700")
        XCTAssertEqual(stale.field("Cache-Status"), "onesheet; fwd=stale; detail=stale-if-error")
        XCTAssertEqual(
            stale.field("Cache-Control"), "public, max-age=600, stale-while-revalidate=30, stale-if-error=1000")
        // And when that time is over, too, there is the origin's failure and nothing to keep
        clock.advance(by: .seconds(1000))
        assertProblem(try await server.send(path(origin)), 502, "500")
    }

    func testThatAnAnswerThatItsOriginStandsByIsFreshAgain() async throws {
        // Given a picture that its origin knows by a tag
        let body = try Picture.jpeg()
        let origin = try await origin { _, fields in
            let fresh = ["Cache-Control": "max-age=600, stale-while-revalidate=0", "ETag": "\"one\""]
            if fields["if-none-match"] == "\"one\"" { return .answer(status: 304, fields: fresh) }
            return .answer(type: "image/jpeg", fields: fresh, body: body)
        }
        let server = try await server(sources: web(origin), clock: clock.wallClock)
        let first = try await server.send(path(origin))
        // When its time is up and it is asked for again, twice
        clock.advance(by: .seconds(700))
        let again = try await server.send(path(origin))
        let hit = try await server.send(path(origin))
        // Then the origin was asked once more, and all have the same picture with its whole time
        XCTAssertEqual(origin.requests(), 2)
        XCTAssertEqual(again.field("Cache-Status"), "onesheet; fwd=stale; stored; detail=revalidated")
        XCTAssertEqual(hit.field("Cache-Status"), "onesheet; hit; ttl=600; detail=memory")
        for answer in [again, hit] {
            XCTAssertEqual(answer.body, first.body)
            XCTAssertEqual(answer.field("Age"), "0")
            XCTAssertEqual(answer.field("Cache-Control"), "public, max-age=600, stale-if-error=86400")
            XCTAssertEqual(answer.field("ETag"), first.field("ETag"))
        }
    }

    func testThatTheStagesOfWhatHadToBeMadeAreTold() async throws {
        // Given a picture that nobody has asked for
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let server = try await server(sources: web(origin), clock: clock.wallClock)
        // When it is made
        let answer = try await server.send(path(origin))
        // Then each stage has its time
        let timing = answer.field("Server-Timing") ?? ""
        XCTAssertNotNil(timing.wholeMatch(of: /origin;dur=[0-9.]+, render;dur=[0-9.]+, store;dur=[0-9.]+/), timing)
    }

    private func path(_ origin: OriginServer) -> String { "/i/unsafe/w:60/plain/\(origin.url)/a@jpg" }
}
