import MetricsTestKit
import OnesheetPipeline
import XCTest

@testable import OnesheetServer

/// What a backend of swift-metrics gets.
final class MetricsExportTests: XCTestCase {
    private let backend = TestMetrics()

    private func list(hits: Int, seconds: Double, fill: Double) -> MetricList {
        var list = MetricList()
        list.add(
            .counter, "cache_hits_total", help: "Hits.",
            samples: [
                .init(hits, labels: [("tier", "disk"), ("source", "a")]), .init(1, labels: [("tier", "memory"), ("source", "a")]),
            ])
        list.add(.counter, "cpu_seconds_total", prefix: "process_", help: "Time.", samples: [.init(seconds)])
        list.add(.gauge, "fill_ratio", help: "Fill.", samples: [.init(fill, labels: [("tier", "disk")])])
        var histogram = Histogram()
        histogram.add(0.003)
        list.add(["render": histogram], "stage_seconds", help: "Stages.", label: "stage")
        return list
    }

    func testThatCountersGrowByWhatWasAddedAndGaugesAreSet() async throws {
        // Given a backend that has got the metrics once
        let forwarder = MetricsForwarder(backend)
        await forwarder.pass(list(hits: 5, seconds: 0.5, fill: 0.25))
        // When they have grown
        await forwarder.pass(list(hits: 8, seconds: 0.75, fill: 0.5))
        // Then each of them has its last value, under its own name and labels
        let hits = try backend.expectCounter("onesheet_cache_hits_total", [("tier", "disk"), ("source", "a")])
        XCTAssertEqual(hits.totalValue, 8)
        XCTAssertEqual(hits.values, [5, 3])
        let others = try backend.expectCounter("onesheet_cache_hits_total", [("tier", "memory"), ("source", "a")])
        XCTAssertEqual(others.totalValue, 1)
        let fill = try backend.expectMeter("onesheet_fill_ratio", [("tier", "disk")])
        XCTAssertEqual(fill.values, [0.25, 0.5])
        let bucket = try backend.expectCounter("onesheet_stage_seconds_bucket", [("stage", "render"), ("le", "0.005")])
        XCTAssertEqual(bucket.totalValue, 1)
        XCTAssertEqual(try backend.expectCounter("onesheet_stage_seconds_count", [("stage", "render")]).totalValue, 1)
    }

    func testThatACounterThatBeginsAnewIsNotTakenBack() async throws {
        let forwarder = MetricsForwarder(backend)
        for hits in [5, 2, 4] { await forwarder.pass(list(hits: hits, seconds: 0, fill: 0)) }
        let hits = try backend.expectCounter("onesheet_cache_hits_total", [("tier", "disk"), ("source", "a")])
        XCTAssertEqual(hits.values, [5, 2])
    }
}
