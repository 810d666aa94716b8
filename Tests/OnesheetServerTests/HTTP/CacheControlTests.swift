import Foundation
import NIOCore
import OnesheetCore
import OnesheetHTTP
import OnesheetTesting
import Synchronization
import XCTest

/// The caching directives of responses, word by word.
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
            // Purges must reach other caches within a day.
            (
                "max-age=31536000, stale-if-error=31536000",
                "public, max-age=86400, stale-while-revalidate=60, stale-if-error=86400"
            ),
            ("no-store", "no-store"),
        ] {
            // Given the directives of an origin
            let origin = try await origin { _, _ in .answer(type: "image/jpeg", fields: ["Cache-Control": said], body: body) }
            let server = try await server(sources: web(origin), clock: clock.wallClock)
            // When the picture is requested, and again from memory
            for _ in 0..<2 {
                let answer = try await server.send(path(origin))
                // Then clients get the same directives, as far as the server follows them
                XCTAssertEqual(answer.field("Cache-Control"), expected, said)
            }
        }
    }

    func testNoCacheKeepsAnImageBeyondItsAddress() async throws {
        // Given pictures of an origin that gives a week, of one that never changes, and addresses that end in 30 seconds and in ten days
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", fields: ["Cache-Control": "max-age=604800"], body: body)
        }
        let web = web(origin)
        let server = try await server(
            sources: web + "\n" + web.replacing("web: {", with: "fixed: { versioned: true,"), clock: clock.wallClock)
        let now = Int(clock.wallClock.now.timeIntervalSince1970.rounded(.up))
        for (source, seconds, expected) in [
            ("web", 30, "public, max-age=30"),
            ("web", 864_000, "public, max-age=86400, stale-while-revalidate=60, stale-if-error=86400"),
            ("fixed", 30, "public, max-age=30"), ("fixed", 864_000, "public, max-age=864000"),
        ] {
            let path = "/i/unsafe/w:60/exp:\(now + seconds)/plain/\(source)://\(PercentEncoding.encode("\(origin.url)/a"))@jpg"
            // When each is requested, from its origin and from memory
            for _ in 0..<2 {
                let answer = try await server.send(path)
                // Then no cache may keep it for longer, not even a stale one
                XCTAssertEqual(answer.field("Cache-Control"), expected, "\(source) \(seconds) \(answer.text)")
            }
        }
    }

    func testThatMaxAgeIsTheRestOfTheLifetime() async throws {
        // Given a picture that its origin gives a week, and another that it gives an hour
        let body = try Picture.jpeg()
        let origin = try await origin { path, _ in
            .answer(
                type: "image/jpeg", fields: ["Cache-Control": path.hasPrefix("/b") ? "max-age=3600" : "max-age=604800"], body: body)
        }
        let server = try await server(sources: web(origin), clock: clock.wallClock)
        let (week, hour) = ("/i/unsafe/w:60/plain/\(origin.url)/a@jpg", "/i/unsafe/w:60/plain/\(origin.url)/b@jpg")
        for path in [week, hour] { _ = try await server.send(path) }
        for (passed, path, expected) in [
            (Duration.seconds(600), hour, 3000), (.seconds(86_400 * 5), week, 86_400), (.seconds(86_400 * 2 - 660), week, 60),
        ] {
            // When time passes
            clock.advance(by: passed)
            let answer = try await server.send(path)
            // Then neither is kept for longer than a day or than its origin allows, whatever a cache makes of Age
            XCTAssertNil(answer.field("Age"))
            let control = answer.field("Cache-Control") ?? ""
            XCTAssertTrue(control.hasPrefix("public, max-age=\(expected),"), "\(passed): \(control)")
            XCTAssertEqual(answer.field("Cache-Status")?.contains("hit"), true)
        }
    }

    func testThatLastModifiedIsNotLaterThanDate() async throws {
        // Given an origin whose pictures have just changed, some of them according to a clock that is ahead
        let body = try Picture.jpeg()
        let origin = try await origin { target, _ in
            let ahead = Double(target.dropFirst()) ?? 0
            return .answer(
                type: "image/jpeg", fields: ["Last-Modified": HTTPDate.text(Date().addingTimeInterval(ahead - 4))], body: body)
        }
        let server = try await server(sources: web(origin))
        var dated = 0
        for ahead in 0...8 {
            // When a picture is made, and when it comes from memory
            for _ in 0..<2 {
                let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/\(ahead)@jpg")
                // Then it is no newer than its answer
                XCTAssertEqual(answer.status, 200)
                let dates = ["Last-Modified", "Date"].map { answer.field($0).flatMap { HTTPDate.parse($0, now: Date()) } }
                guard let modified = dates[0], let date = dates[1] else { continue }
                dated += 1
                XCTAssertLessThanOrEqual(modified, date)
            }
        }
        XCTAssertGreaterThan(dated, 0)
    }

    func testThatAnAnswerThatIsStaleBecauseTheOriginFailsIsNotFreshForAnybody() async throws {
        // Given a picture that may be served stale on errors
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
        // When it is stale and the origin fails
        isWell.withLock { $0 = false }
        clock.advance(by: .seconds(700))
        let stale = try await server.send(path(origin))
        // Then it is served as stale, with no more time for other caches than for this server
        XCTAssertEqual([first.status, stale.status], [200, 200])
        XCTAssertEqual(stale.body, first.body)
        XCTAssertNil(stale.field("Age"))
        XCTAssertEqual(stale.field("Cache-Status"), "onesheet; fwd=stale; detail=stale-if-error")
        XCTAssertEqual(
            stale.field("Cache-Control"), "public, max-age=0, stale-if-error=900")
        // And after that time, the failure of the origin is returned and may not be cached
        clock.advance(by: .seconds(1000))
        assertProblem(try await server.send(path(origin)), 502, "500")
    }

    func testThatAnAnswerThatItsOriginStandsByIsFreshAgain() async throws {
        // Given a picture with an entity tag
        let body = try Picture.jpeg()
        let origin = try await origin { _, fields in
            let fresh = ["Cache-Control": "max-age=600, stale-while-revalidate=0", "ETag": "\"one\""]
            if fields["if-none-match"] == "\"one\"" { return .answer(status: 304, fields: fresh) }
            return .answer(type: "image/jpeg", fields: fresh, body: body)
        }
        let server = try await server(sources: web(origin), clock: clock.wallClock)
        let first = try await server.send(path(origin))
        // When it is stale and requested again, twice
        clock.advance(by: .seconds(700))
        let again = try await server.send(path(origin))
        let hit = try await server.send(path(origin))
        // Then the origin was asked once, and all get the same picture with its full lifetime
        XCTAssertEqual(origin.requests(), 2)
        XCTAssertEqual(again.field("Cache-Status"), "onesheet; fwd=stale; stored; detail=revalidated")
        XCTAssertEqual(hit.field("Cache-Status"), "onesheet; hit; ttl=600; detail=memory")
        for answer in [again, hit] {
            XCTAssertEqual(answer.body, first.body)
            XCTAssertNil(answer.field("Age"))
            XCTAssertEqual(answer.field("Cache-Control"), "public, max-age=600, stale-if-error=86400")
            XCTAssertEqual(answer.field("ETag"), first.field("ETag"))
        }
    }

    func testThatTheStagesOfWhatHadToBeMadeAreTold() async throws {
        // Given an uncached picture
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let server = try await server(sources: web(origin), clock: clock.wallClock)
        // When it is made
        let answer = try await server.send(path(origin))
        // Then each stage has its duration
        let timing = answer.field("Server-Timing") ?? ""
        XCTAssertNotNil(timing.wholeMatch(of: /origin;dur=[0-9.]+, render;dur=[0-9.]+, store;dur=[0-9.]+/), timing)
    }

    private func path(_ origin: OriginServer) -> String { "/i/unsafe/w:60/plain/\(origin.url)/a@jpg" }
}
