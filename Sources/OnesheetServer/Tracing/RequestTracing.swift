import HTTPTypes
import HummingbirdCore
import OnesheetCore
import OnesheetHTTP
import OnesheetTransport
import Tracing

/// Traces requests: continues the client's trace (W3C Trace Context) and records a span for each request.
///
/// The tracer is that of the configured collector, or else the one that an embedding program has bootstrapped. Without either, a trace is
/// only passed on. The fast path has no spans.
struct RequestTracing: Sendable {
    /// `nil` if no collector is configured.
    let collector: CollectorTracer?

    /// Answers `request` in its trace.
    /// - Parameters:
    ///   - route: the name of its route.
    ///   - path: its path for people, which only a span needs.
    func run(
        _ request: Request, to route: String, path: @autoclosure @Sendable () -> String, _ respond: @Sendable () async -> Response
    ) async -> Response {
        if let collector {
            return await withTracer(collector) { await traced(request, to: route, path: path, respond) }
        }
        guard InstrumentationSystem.instrument is NoOpInstrument else {
            return await traced(request, to: route, path: path, respond)
        }
        guard request.headers[.traceParent] != nil else { return await respond() }
        return await withTracer(PassThroughTracer()) { await traced(request, to: route, path: path, respond) }
    }

    private func traced(
        _ request: Request, to route: String, path: @Sendable () -> String, _ respond: @Sendable () async -> Response
    ) async -> Response {
        var context = InstrumentationContext.topLevel
        InstrumentationSystem.instrument.extract(request.headers, into: &context, using: FieldExtractor())
        if context.trace == nil, let parent = request.headers[.traceParent] {
            // The log names the trace, in whichever form the program's own tracer keeps it.
            context.trace = TraceContext(parent: parent, state: request.headers[.traceState])
        }
        let method = Self.methods.contains(request.method) ? request.method.rawValue : "_OTHER"
        return await InstrumentationContext.$current.withValue(context) {
            await withSpan(named: "\(method) \(route)", ofKind: .server) { span in
                let response = await respond()
                guard let span, span.isRecording else { return response }
                var attributes = SpanAttributes()
                attributes["http.request.method"] = method
                attributes["http.route"] = route
                attributes["url.path"] = path()
                attributes["http.response.status_code"] = response.status.code
                if let status = response.headers[.cacheStatus] { attributes["onesheet.cache_status"] = status }
                span.attributes = attributes
                if response.status.kind == .serverError { span.setStatus(SpanStatus(code: .error)) }
                return response
            }
        }
    }

    /// Other methods have one name, because collectors group by it.
    private static let methods: [HTTPTypes.HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .options]
}

private struct FieldExtractor: Extractor {
    func extract(key: String, from carrier: HTTPFields) -> String? { HTTPField.Name(key).flatMap { carrier[$0] } }
}
