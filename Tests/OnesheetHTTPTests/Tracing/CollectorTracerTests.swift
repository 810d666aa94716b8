import Foundation
import NIOCore
import NIOPosix
import OnesheetTesting
import OnesheetTransport
import Tracing
import XCTest

/// Spans on their way to a collector.
final class CollectorTracerTests: XCTestCase {
    private struct Broken: Error {}

    func testThatSpansReachTheCollectorWithTheirTree() async throws {
        // Given a collector, and a request of a caller that records its trace
        let collector = try await collector()
        let tracer = try tracer(collector.url)
        let caller = TraceContext(
            traceID: "0af7651916cd43dd8448eb211c80319c", spanID: "b7ad6b7169203331", isSampled: true, state: "a=1")
        var context = InstrumentationContext.topLevel
        context.trace = caller
        // When work with a failing part is done in it
        var inner: TraceContext?
        await withTracer(tracer) {
            await InstrumentationContext.$current.withValue(context) {
                await withSpan(named: "outer", ofKind: .server) { span in
                    span?.attributes["text"] = "한"
                    span?.attributes["number"] = 7
                    span?.attributes["ratio"] = 0.5
                    span?.attributes["flag"] = true
                    inner = TraceContext.current
                    do { try await withSpan(named: "inner") { _ async throws(Broken) in throw Broken() } } catch {}
                }
            }
        }
        await tracer.send()
        // Then the collector has both, the inner one below the outer one, in the caller's trace
        let delivery = try XCTUnwrap(collector.deliveries.first)
        XCTAssertEqual(delivery.target, "/v1/traces")
        XCTAssertEqual(delivery.type, "application/json")
        let spans = try spans(collector)
        XCTAssertEqual(spans.map { $0["name"] as? String }, ["inner", "outer"])
        XCTAssertEqual(spans.map { $0["traceId"] as? String }, [caller.traceID, caller.traceID])
        XCTAssertEqual(spans[1]["parentSpanId"] as? String, caller.spanID)
        XCTAssertEqual(spans[0]["parentSpanId"] as? String, spans[1]["spanId"] as? String)
        XCTAssertEqual(inner?.spanID, spans[1]["spanId"] as? String)
        XCTAssertEqual(spans.map { $0["kind"] as? Int }, [1, 2])
        XCTAssertEqual(spans.map { ($0["status"] as? [String: Any])?["code"] as? Int }, [2, 0])
        XCTAssertEqual((spans[0]["events"] as? [[String: Any]])?.first?["name"] as? String, "exception")
        let attributes = try XCTUnwrap(spans[1]["attributes"] as? [[String: Any]])
        let values = Dictionary(
            uniqueKeysWithValues: attributes.map { ($0["key"] as? String ?? "", $0["value"] as? [String: Any] ?? [:]) })
        XCTAssertEqual(values["text"]?["stringValue"] as? String, "한")
        XCTAssertEqual(values["number"]?["intValue"] as? String, "7")
        XCTAssertEqual(values["ratio"]?["doubleValue"] as? Double, 0.5)
        XCTAssertEqual(values["flag"]?["boolValue"] as? Bool, true)
        let times = try spans.map { span in
            try (UInt64(XCTUnwrap(span["startTimeUnixNano"] as? String)), UInt64(XCTUnwrap(span["endTimeUnixNano"] as? String)))
        }
        for (start, end) in times { XCTAssertLessThanOrEqual(start ?? .max, end ?? 0) }
        XCTAssertEqual(tracer.counts, .init(sent: 2, dropped: 0))
    }

    func testThatACallerDecidesWhetherItsTraceIsRecordedAndARatioOtherwise() async throws {
        let collector = try await collector()
        for (ratio, isSampled, expected) in [
            (1.0, nil, 100...100), (0.0, nil, 0...0), (0.0, true, 100...100), (1.0, false, 0...0), (0.5, nil, 10...90),
        ] as [(Double, Bool?, ClosedRange<Int>)] {
            // Given a tracer with a ratio, and traces with and without a caller's decision
            let tracer = try tracer(collector.url, ratio: ratio)
            var context = InstrumentationContext.topLevel
            context.trace = isSampled.map {
                TraceContext(traceID: "0af7651916cd43dd8448eb211c80319c", spanID: "b7ad6b7169203331", isSampled: $0)
            }
            // When each has a span
            for _ in 0..<100 { tracer.startSpan("a", context: context).end() }
            await tracer.send()
            // Then as many are sent
            XCTAssertTrue(expected.contains(tracer.counts.sent), "\(ratio) \(String(describing: isSampled)) \(tracer.counts)")
        }
    }

    func testThatWhatACollectorDoesNotTakeIsDroppedAndCounted() async throws {
        // Given collectors that are down, that refuse, and that hang up
        let refusing = try await collector(status: 503)
        let hanging = try await OriginServer.start { _, _ in .hangUp }
        addTeardownBlock { try await hanging.stop() }
        for url in ["http://127.0.0.1:9/v1/traces", refusing.url, hanging.url + "/v1/traces"] {
            let tracer = try tracer(url)
            // When more spans end than may wait
            for _ in 0..<CollectorTracer.maxWaiting + 10 { tracer.startSpan("a", context: .topLevel).end() }
            XCTAssertEqual(tracer.counts, .init(sent: 0, dropped: 10), url)
            let outcome = await tracer.send()
            // Then all are counted as dropped, and the log may say so
            guard case .failure(let reason) = outcome else { return XCTFail("\(url): \(String(describing: outcome))") }
            XCTAssertFalse("\(reason)".isEmpty)
            let again = await tracer.send()
            XCTAssertNil(again.map { _ in true })
            XCTAssertEqual(tracer.counts, .init(sent: 0, dropped: CollectorTracer.maxWaiting + 10), url)
        }
    }

    func testThatASilentCollectorHoldsUpNoShutdown() async throws {
        // Given a collector that never responds
        let collector = try await collector(status: nil)
        let tracer = try tracer(collector.url)
        tracer.startSpan("a", context: .topLevel).end()
        // When sending is cancelled
        for count in 1...2 {
            let sending = Task { _ = await tracer.send() }
            await waitWhile(collector.deliveries.count < count)
            sending.cancel()
            await sending.value
            // Then it ends without waiting for the response, and the span is sent once more
            XCTAssertEqual(tracer.counts, .init(sent: 0, dropped: 0))
        }
    }

    func testThatASpanHasBoundsAndEndsOnce() async throws {
        let collector = try await collector()
        let tracer = try tracer(collector.url)
        let span = tracer.startSpan("a", context: .topLevel)
        for number in 0..<1000 {
            span.addEvent(SpanEvent(name: "event \(number)"))
            span.attributes["key \(number)"] = String(repeating: "x", count: 100_000)
        }
        XCTAssertTrue(span.isRecording)
        span.end()
        span.end()
        XCTAssertFalse(span.isRecording)
        span.operationName = "late"
        await tracer.send()
        let spans = try spans(collector)
        XCTAssertEqual(spans.map { $0["name"] as? String }, ["a"])
        XCTAssertLessThan(collector.deliveries[0].body.readableBytes, 100_000)
    }

    func testThatOnlyURLsOfTheWebAreCollectors() {
        for text in ["", "collector", "ftp://a/", "http://", "http://a b/", "unix:/run/otel.sock"] {
            XCTAssertNil(CollectorURL(text), text)
        }
        for text in ["http://collector:4318/v1/traces", "https://a.example/x?y=z", "http://[::1]:4318/v1/traces"] {
            XCTAssertEqual(CollectorURL(text)?.description, text)
        }
    }

    private func collector(status: Int? = 200) async throws -> CollectorServer {
        let collector = try await CollectorServer.start(status: status)
        addTeardownBlock { try await collector.stop() }
        return collector
    }

    private func tracer(_ url: String, ratio: Double = 1) throws -> CollectorTracer {
        CollectorTracer(
            endpoint: try XCTUnwrap(CollectorURL(url)), sampleRatio: ratio, service: "test", version: "1")
    }

    /// The spans of all deliveries.
    private func spans(_ collector: CollectorServer) throws -> [[String: Any]] {
        try collector.deliveries.flatMap { delivery in
            let document = try JSONSerialization.jsonObject(with: Data(delivery.body.readableBytesView)) as? [String: Any]
            let resources = document?["resourceSpans"] as? [[String: Any]] ?? []
            let scopes = resources.flatMap { $0["scopeSpans"] as? [[String: Any]] ?? [] }
            return scopes.flatMap { $0["spans"] as? [[String: Any]] ?? [] }
        }
    }
}
