package import Tracing

/// Runs `work` in a span of the current tracer. Without one it only runs `work`.
/// - Parameters:
///   - name: one of a fixed set, because collectors group by it.
///   - work: gets the span to describe it; `nil` if nothing records it.
package func withSpan<Value, Failure: Error>(
    named name: String, ofKind kind: SpanKind = .internal, isolation: isolated (any Actor)? = #isolation,
    _ work: ((any Span)?) async throws(Failure) -> Value
) async throws(Failure) -> Value {
    let tracer = InstrumentationSystem.tracer
    guard !(tracer is NoOpTracer) else { return try await work(nil) }
    let span = begin(name, kind, by: tracer)
    defer { span.end() }
    let result: Result<Value, Failure> = await InstrumentationContext.$current.withValue(span.context) {
        do throws(Failure) { return .success(try await work(span)) } catch { return .failure(error) }
    }
    if case .failure(let error) = result {
        span.recordError(error)
        span.setStatus(SpanStatus(code: .error))
    }
    return try result.get()
}

private func begin(_ name: String, _ kind: SpanKind, by tracer: some Tracer) -> any Span {
    tracer.startSpan(name, ofKind: kind)
}

/// The header fields that continue the current trace in another service.
package func traceFields() -> [String: String] {
    guard let context = InstrumentationContext.current else { return [:] }
    var fields: [String: String] = [:]
    InstrumentationSystem.instrument.inject(context, into: &fields, using: FieldInjector())
    return fields
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
}
