import OnesheetHTTP
import Logging
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import StandardPlugins
import Synchronization
import XCTest

@testable import OnesheetServer

/// The effect of a source's `freshness` in the configuration file.
final class FreshnessConfigurationTests: ServerTestCase {
    private let clock = ManualClock()

    func testThatAllKeysBecomeRules() async throws {
        // Given a source with every key
        let yaml = """
            cache: { disk: { path: "\(folder())" } }
            sources:
              web:
                type: remote
                allow: ["https://images.example.com/"]
                freshness: { minimum: 1m, maximum: 2h, staleWhileRevalidate: 3s, staleIfError: 4d }
              plain: { type: remote, allow: ["https://images.example.com/"] }
            """
        let context = try ServerContext(
            try ConfigurationFile(environment: [:]).parse(yaml), .standard, logger: RunningServer.silent)
        addTeardownBlock { try await context.shutdown() }
        // When its originals are fetched
        let rules = Dictionary(
            uniqueKeysWithValues: context.sources.map { ($0.name, FreshnessRules($0.source.originPolicy.freshness)) })
        // Then these rules apply, and the defaults without the keys
        XCTAssertEqual(
            rules["web"], FreshnessRules(minimum: 60, maximum: 7200, staleWhileRevalidate: 3, staleIfError: 345_600))
        XCTAssertEqual(rules["plain"], FreshnessRules())
    }

    func testThatNoOriginalIsFreshForLongerThanTheMaximum() async throws {
        // Given an origin with an hour, and a source configured with a minute
        let good = try Picture.jpeg()
        let origin = try await origin { _, _ in
            .answer(type: "image/jpeg", fields: ["Cache-Control": "max-age=3600", "ETag": "\"a\""], body: good)
        }
        let (server, path) = try await server("maximum: 1m, staleWhileRevalidate: 0s", origin)
        _ = try await server.send(path)
        // When it is requested within the minute, and after it
        clock.advance(by: .seconds(59))
        let fresh = try await server.send(path)
        let inTime = origin.requests()
        clock.advance(by: .seconds(2))
        let renewed = try await server.send(path)
        // Then the origin is asked only after it, and clients get the minute too
        XCTAssertEqual([fresh.status, renewed.status], [200, 200])
        XCTAssertEqual([inTime, origin.requests()], [1, 2])
        XCTAssertTrue(fresh.field("Cache-Control")?.contains("max-age=1,") ?? false, "\(fresh.fields)")
    }

    func testThatAStaleOriginalServesForAsLongAsIsConfiguredWhenItsOriginFails() async throws {
        // Given an origin without stale directives, whose picture is stale, and which fails now
        let good = try Picture.jpeg()
        let isDown = Mutex(false)
        let origin = try await origin { _, _ in
            isDown.withLock { $0 } ? .answer(status: 500) : .answer(type: "image/jpeg", body: good)
        }
        let (server, path) = try await server("maximum: 1m, staleWhileRevalidate: 0s, staleIfError: 1h", origin)
        let first = try await server.send(path)
        isDown.withLock { $0 = true }
        // When it is requested within the hour
        clock.advance(by: .seconds(59 * 60))
        let stale = try await server.send(path)
        // Then the stale picture is served, although the origin was asked
        XCTAssertEqual(stale.status, 200, stale.text)
        XCTAssertEqual(stale.body, first.body)
        XCTAssertGreaterThan(origin.requests(), 1)
        // And after the hour, the request fails
        clock.advance(by: .seconds(3 * 60))
        let late = try await server.send(path)
        assertProblem(late, 502, "500")
    }

    /// A server for the pictures of `origin`, and a path to one.
    private func server(_ freshness: String, _ origin: OriginServer) async throws -> (RunningServer, String) {
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback], freshness: { \(freshness) } }",
            clock: clock.wallClock)
        return (server, "/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
    }
}
