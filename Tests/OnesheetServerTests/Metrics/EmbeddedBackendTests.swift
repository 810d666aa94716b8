import Metrics
import MetricsTestKit
import XCTest

@testable import OnesheetServer

/// A program that embeds the server and has a backend of swift-metrics. A process has only one, so this class has only one test.
final class EmbeddedBackendTests: ServerTestCase {
    func testThatTheBackendOfTheProgramGetsTheMetricsWhenTheServerStops() async throws {
        // Given a backend, and a server that has made a picture
        let backend = TestMetrics()
        MetricsSystem.bootstrap(backend)
        let server = try await server()
        _ = try await server.send("/t/p/w92/sample/1.jpg")
        // When the server stops
        XCTAssertTrue(server.server.drain())
        try await server.end()
        // Then the backend has its last figures
        let made = try backend.expectCounter("onesheet_images_total", [("outcome", "made")])
        XCTAssertEqual(made.totalValue, 1)
        XCTAssertEqual(
            try backend.expectCounter("onesheet_requests_total", [("route", "/t/p/"), ("status", "2xx")]).totalValue, 1)
    }
}
