import XCTest

final class UnwritableCacheTests: ServerTestCase {
    func testThatAServerStartsAndServesWhereItsCacheCannotBeWritten() async throws {
        // Not even root can make folders there.
        let server = try await server(cache: "/sys/onesheet-cache")

        for _ in 0..<2 {
            let poster = try await server.send("/t/p/w92/sample/1.jpg")
            XCTAssertEqual(poster.status, 200, poster.text)
            XCTAssertEqual(poster.field("Content-Type"), "image/jpeg")
        }

        let metrics = try await server.send("/metrics").text
        let failures = metrics.split(separator: "\n").first { $0.hasPrefix("onesheet_cache_failures_total{tier=\"disk\"} ") }
        XCTAssertGreaterThan(try XCTUnwrap(failures?.split(separator: " ").last.flatMap { Int($0) }), 0, metrics)
        XCTAssertTrue(metrics.contains("onesheet_cache_hits_total{tier=\"memory\",source=\"sample\"} 1"), metrics)
    }
}
