import OnesheetCore
import OnesheetTesting
import XCTest

/// Cache metrics for the administrator and Prometheus.
final class CacheMetricsTests: ServerTestCase {
    private let clock = ManualClock()

    func testThatFiguresTellTiersSourcesReasonsAndAge() async throws {
        // Given a server whose memory tier has evicted a poster, so that the disk serves the second request
        let server = try await server(
            sources: "sample: { type: sample }\nother: { type: sample }", keys: "admin: { token: secret-for-tests }",
            clock: clock.wallClock)
        _ = try await server.send("/t/p/w92/other/1.jpg")
        clock.advance(by: .seconds(400))
        _ = try await server.send("/t/p/w92/other/1.jpg")

        // When the metrics are requested
        let metrics = try await server.send("/metrics").text
        let document = try await server.send("/cache/stats", fields: [("Authorization", "Bearer secret-for-tests")]).json()

        // Then they show that, for this source only
        for line in [
            "cache_evictions_total{tier=\"memory\",source=\"other\",reason=\"expired\"} ",
            "cache_hits_total{tier=\"disk\",source=\"other\"} ",
            "cache_oldest_seconds{tier=\"disk\",source=\"other\"} 400.0",
            "cache_fill_ratio{tier=\"disk\"} ",
        ] { XCTAssertTrue(metrics.contains("\nonesheet_\(line)"), "no \(line) in \(metrics)") }
        XCTAssertFalse(metrics.contains("tier=\"disk\",source=\"sample\""), metrics)
        let disk = try XCTUnwrap(document["disk"] as? [String: Any])
        let sources = try XCTUnwrap(disk["sources"] as? [String: [String: Any]])
        XCTAssertEqual(Array(sources.keys), ["other"])
        XCTAssertEqual(sources["other"]?["oldestAge"] as? Int, 400)
        XCTAssertEqual((disk["total"] as? [String: Any])?["entries"] as? Int, sources["other"]?["entries"] as? Int)
        await server.stop()
    }
}
