import Foundation
import NIOCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetServer

/// Traces through a whole server.
final class RequestTracingTests: ServerTestCase {
    private let traceID = "0af7651916cd43dd8448eb211c80319c"
    private var parent: String { "00-\(traceID)-b7ad6b7169203331-01" }

    func testThatATraceIsPassedToTheOriginAndTheLogAlsoWithoutACollector() async throws {
        // Given an origin that notes its requests' fields
        let (origin, asked) = try await noting()
        let lines = LogLines()
        let server = try await server(sources: web(origin), logger: lines.logger())
        // When pictures are requested with a trace, with a malformed one and without one
        let address = "/i/unsafe/w:20/plain/\(origin.url)"
        _ = try await server.send("\(address)/a.jpg", fields: [("traceparent", parent), ("tracestate", "a=1")])
        _ = try await server.send("\(address)/b.jpg", fields: [("traceparent", "00-\(traceID)-1-01"), ("tracestate", "a=1")])
        _ = try await server.send("\(address)/c.jpg")
        // Then the origin of the first one gets it, and the log names it
        XCTAssertEqual(asked.withLock { $0.map { $0["traceparent"] } }, [parent, nil, nil])
        XCTAssertEqual(asked.withLock { $0.map { $0["tracestate"] } }, ["a=1", nil, nil])
        XCTAssertEqual(lines.all.count { $0.contains("answered") && $0.contains("trace_id=\(traceID)") }, 1, "\(lines.all)")
    }

    func testThatTheCollectorGetsASpanForEachStageOfAMissAndNoneForAFastHit() async throws {
        // Given a server with a collector
        let collector = try await CollectorServer.start()
        addTeardownBlock { try await collector.stop() }
        let (origin, asked) = try await noting()
        let server = try await server(
            sources: web(origin), keys: "tracing: { endpoint: \"\(collector.url)\", service: posters }")
        // When a picture is made, and requested again
        let address = "/i/unsafe/w:20/plain/\(origin.url)/a.jpg?token=SECRET"
        for _ in 0..<3 { _ = try await server.send(address.replacing("?", with: "%3F"), fields: [("traceparent", parent)]) }
        let metrics = try await server.send("/metrics").text
        XCTAssertTrue(metrics.contains("onesheet_trace_spans_total{outcome=\"dropped\"} 0"), metrics)
        await server.stop()
        // Then there is a span for its request and for each stage, and one for the request for metrics
        let spans = try spans(collector).filter { $0["traceId"] as? String == traceID }
        XCTAssertEqual(
            spans.compactMap { $0["name"] as? String }.sorted(), ["GET", "GET /i/", "cache", "origin", "render", "store"].sorted())
        // And they form one tree below the client's span, whose leaf is what the origin got
        let byName = Dictionary(uniqueKeysWithValues: spans.map { ($0["name"] as? String ?? "", $0) })
        let request = try XCTUnwrap(byName["GET /i/"])
        XCTAssertEqual(request["parentSpanId"] as? String, "b7ad6b7169203331")
        for name in ["cache", "origin", "render", "store"] {
            XCTAssertEqual(byName[name]?["parentSpanId"] as? String, request["spanId"] as? String, name)
        }
        XCTAssertEqual(byName["GET"]?["parentSpanId"] as? String, byName["origin"]?["spanId"] as? String)
        let leaf = byName["GET"]?["spanId"] as? String ?? ""
        XCTAssertEqual(asked.withLock { $0.map { $0["traceparent"] } }, ["00-\(traceID)-\(leaf)-01"])
        // And no span has the query of the original
        for delivery in collector.deliveries {
            XCTAssertFalse(String(buffer: delivery.body).contains("SECRET"))
            XCTAssertTrue(String(buffer: delivery.body).contains("posters"))
        }
    }

    func testThatACollectorThatIsDownCostsNoRequest() async throws {
        let server = try await server(keys: "tracing: { endpoint: \"http://127.0.0.1:9/v1/traces\" }")
        let first = try await server.send("/t/p/w92/sample/1.jpg")
        let second = try await server.send("/t/p/w92/sample/2.jpg")
        XCTAssertEqual([first.status, second.status], [200, 200])
        var text = ""
        let end = ContinuousClock.now + .seconds(30)
        while !text.contains(/onesheet_trace_spans_total\{outcome="dropped"\} [1-9]/), ContinuousClock.now < end {
            text = try await server.send("/metrics").text
        }
        XCTAssertTrue(text.contains("onesheet_trace_spans_total{outcome=\"sent\"} 0"), text)
        XCTAssertLessThan(ContinuousClock.now, end)
    }

    private func noting() async throws -> (OriginServer, NotedFields) {
        let body = try Picture.jpeg(width: 30, height: 45)
        let asked = NotedFields()
        let origin = try await origin { _, fields in
            asked.all.withLock { $0.append(fields) }
            return .answer(type: "image/jpeg", body: body)
        }
        return (origin, asked)
    }

    private func spans(_ collector: CollectorServer) throws -> [[String: Any]] {
        try collector.deliveries.flatMap { delivery in
            let document = try JSONSerialization.jsonObject(with: Data(delivery.body.readableBytesView)) as? [String: Any]
            let resources = document?["resourceSpans"] as? [[String: Any]] ?? []
            let scopes = resources.flatMap { $0["scopeSpans"] as? [[String: Any]] ?? [] }
            return scopes.flatMap { $0["spans"] as? [[String: Any]] ?? [] }
        }
    }
}

/// The fields of an origin's requests.
private final class NotedFields: Sendable {
    let all = Mutex<[[String: String]]>([])

    func withLock<Value: Sendable>(_ body: ([[String: String]]) -> Value) -> Value { body(all.withLock { $0 }) }
}
