import InMemoryTracing
import OnesheetTesting
import Tracing
import XCTest

@testable import OnesheetServer

/// A program that embeds the server and has a tracer of swift-distributed-tracing. A process has only one, so this class has only one test.
final class EmbeddedTracerTests: ServerTestCase {
    func testThatTheTracerOfTheProgramGetsTheSpansOfARequest() async throws {
        // Given a tracer, a server, and an origin
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        let body = try Picture.jpeg()
        let pictures = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let server = try await server(sources: web(pictures))
        // When a picture is asked for
        let answer = try await server.send("/i/unsafe/w:10/plain/\(pictures.url)/film@jpg")
        XCTAssertEqual(answer.status, 200)
        XCTAssertTrue(server.server.drain())
        try await server.end()
        // Then the tracer has the spans of all parts, in the trace that the client has begun with the same tracer
        let spans = tracer.finishedSpans
        let request = try XCTUnwrap(spans.first { $0.kind == .server })
        XCTAssertEqual(request.operationName, "GET /i/")
        let names = Set(spans.map(\.operationName))
        XCTAssertTrue(names.isSuperset(of: ["cache", "origin", "render", "store", "GET"]), "\(names)")
        XCTAssertEqual(Set(spans.map(\.spanContext.traceID)), [request.spanContext.traceID])
        let ids = Set(spans.map(\.spanContext.spanID))
        for parent in spans.compactMap(\.spanContext.parentSpanID) { XCTAssertTrue(ids.contains(parent), parent) }
        XCTAssertEqual(spans.count { $0.spanContext.parentSpanID == nil }, 1)
        // And the request to the origin says which span it belongs to
        let origin = try XCTUnwrap(spans.first { $0.operationName == "origin" })
        let call = try XCTUnwrap(
            spans.first { $0.operationName == "GET" && $0.spanContext.parentSpanID == origin.spanContext.spanID })
        XCTAssertTrue(
            tracer.performedContextInjections.contains { $0.values[InMemoryTracer.spanIDKey] == call.spanContext.spanID })
    }
}
