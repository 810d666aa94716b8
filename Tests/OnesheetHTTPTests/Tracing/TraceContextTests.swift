import OnesheetTransport
import Tracing
import XCTest

final class TraceContextTests: XCTestCase {
    private let traceID = "0af7651916cd43dd8448eb211c80319c"
    private let spanID = "b7ad6b7169203331"

    func testThatATraceIsReadAndWrittenAsTheStandardSays() throws {
        for (flags, isSampled) in [("00", false), ("01", true), ("03", true), ("fe", false)] {
            let context = try XCTUnwrap(TraceContext(parent: "00-\(traceID)-\(spanID)-\(flags)", state: nil))
            XCTAssertEqual(context, TraceContext(traceID: traceID, spanID: spanID, isSampled: isSampled))
            XCTAssertEqual(context.parent, "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")")
        }
        // A later version may add more
        XCTAssertNotNil(TraceContext(parent: "cc-\(traceID)-\(spanID)-01", state: nil))
        XCTAssertNotNil(TraceContext(parent: "cc-\(traceID)-\(spanID)-01-what-comes", state: nil))
    }

    func testThatAMalformedParentIsNoTrace() {
        let zeros = String(repeating: "0", count: 32)
        for parent in [
            "", "00", "00-\(traceID)-\(spanID)", "00-\(traceID)-\(spanID)-0", "00-\(traceID)-\(spanID)-001",
            "00-\(traceID)-\(spanID)-01-more", "00-\(traceID)-\(spanID)-01 ", "cc-\(traceID)-\(spanID)-01.more",
            "ff-\(traceID)-\(spanID)-01", "0x-\(traceID)-\(spanID)-01", "00-\(zeros)-\(spanID)-01",
            "00-\(traceID)-\(zeros.prefix(16))-01", "00-\(traceID.uppercased())-\(spanID)-01", "00-\(traceID)-\(spanID)-0A",
            "00_\(traceID)-\(spanID)-01", "00-\(traceID)-\(spanID)-01, 00-\(traceID)-\(spanID)-01",
            "00-\(traceID.dropLast())é-\(spanID)-01", String(repeating: "0", count: 1 << 16),
        ] {
            XCTAssertNil(TraceContext(parent: parent, state: nil), parent)
        }
    }

    func testThatAMalformedStateIsDroppedAndTheTraceGoesOn() throws {
        let many = (0..<33).map { "k\($0)=v" }.joined(separator: ",")
        for (state, expected) in [
            ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
            (" a=1 , ,\tb@c=2", "a=1 ,b@c=2"),
            ("", nil), (",", nil), ("a", nil), ("=1", nil), ("a=", nil), ("A=1", nil), ("a=1,a=2", nil), ("a=\u{7}", nil),
            ("a=é", nil),
            ("a=1=2", nil), (many, nil), ("a=" + String(repeating: "v", count: 511), nil),
        ] {
            let context = try XCTUnwrap(TraceContext(parent: "00-\(traceID)-\(spanID)-01", state: state))
            XCTAssertEqual(context.state, expected, state)
        }
    }

    func testThatWithoutATracerWorkIsOnlyRun() async throws {
        let value = await withSpan(named: "work") { span in
            XCTAssertNil(span)
            return 1
        }
        XCTAssertEqual(value, 1)
        XCTAssertEqual(traceFields(), [:])
    }

    func testThatATraceIsPassedOnWithoutRecordingIt() async throws {
        let trace = TraceContext(traceID: traceID, spanID: spanID, isSampled: true, state: "a=1")
        var context = InstrumentationContext.topLevel
        context.trace = trace
        let fields = await withTracer(PassThroughTracer()) {
            await InstrumentationContext.$current.withValue(context) {
                await withSpan(named: "work") { _ in traceFields() }
            }
        }
        XCTAssertEqual(fields, ["traceparent": trace.parent, "tracestate": "a=1"])
    }
}
