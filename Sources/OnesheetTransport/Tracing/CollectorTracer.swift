import Synchronization
package import Tracing

/// Records spans and sends them to a collector (OTLP over HTTP, <https://opentelemetry.io/docs/specs/otlp/>).
///
/// A trace that a caller records is recorded here too; of the others, a share. Nothing waits for the collector: spans that it does not
/// take in time are dropped and counted.
package final class CollectorTracer: Tracer, W3CInstrument {
    /// The maximum number of spans that wait to be sent.
    package static let maxWaiting = 4096
    /// The maximum number of spans in one request.
    static let batch = 512

    /// The counts of spans since the start.
    package struct Counts: Sendable, Equatable {
        package var sent: Int
        package var dropped: Int

        package init(sent: Int = 0, dropped: Int = 0) {
            self.sent = sent
            self.dropped = dropped
        }
    }

    private struct State {
        var waiting: [RecordedSpan.Record] = []
        var counts = Counts()
    }

    private let sampleRatio: Double
    private let resource: OTLPDocument.Resource
    private let connection: CollectorConnection
    private let state = Mutex(State())

    /// - Parameters:
    ///   - endpoint: the collector's URL for traces, such as `http://127.0.0.1:4318/v1/traces`.
    ///   - sampleRatio: the share of traces to record that begin here, 0 to 1.
    ///   - service: the name of this service in traces.
    ///   - version: its version.
    package init(endpoint: CollectorURL, sampleRatio: Double, service: String, version: String) {
        self.sampleRatio = sampleRatio
        resource = OTLPDocument.Resource(service: service, version: version)
        connection = CollectorConnection(endpoint)
    }

    package var counts: Counts { state.withLock { $0.counts } }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> RecordedSpan {
        var context = context()
        let parent = context.trace
        let traceID = parent?.traceID ?? Self.randomDigits(32)
        let trace = TraceContext(
            traceID: traceID, spanID: Self.randomDigits(16), isSampled: parent?.isSampled ?? isSampled(traceID),
            state: parent?.state)
        context.trace = trace
        let record = RecordedSpan.Record(
            trace: trace, parentID: parent?.spanID, kind: kind, name: operationName, start: instant().nanosecondsSinceEpoch)
        return RecordedSpan(record, in: context) { [weak self] in if $0.trace.isSampled { self?.add($0) } }
    }

    package func forceFlush() {}

    private func add(_ record: RecordedSpan.Record) {
        state.withLock { state in
            if state.waiting.count < Self.maxWaiting { state.waiting.append(record) } else { state.counts.dropped += 1 }
        }
    }

    /// Sends what waits, in batches. The first failure drops the rest of what waits, unless the task was cancelled.
    /// - Returns: whether the collector took all; `nil` if nothing waited. The reason why it did not is for the log.
    @discardableResult
    package func send() async -> Result<Void, CollectorFailure>? {
        var outcome: Result<Void, CollectorFailure>?
        while true {
            let batch = state.withLock { state in
                defer { state.waiting.removeFirst(min(Self.batch, state.waiting.count)) }
                return Array(state.waiting.prefix(Self.batch))
            }
            guard !batch.isEmpty else { return outcome }
            do {
                try await connection.post(try OTLPDocument(batch, of: resource).encoded())
                state.withLock { $0.counts.sent += batch.count }
                outcome = .success(())
            } catch {
                return state.withLock { state in
                    if Task.isCancelled {
                        // A server that stops sends them once more.
                        state.waiting.insert(contentsOf: batch, at: 0)
                        return nil
                    }
                    state.counts.dropped += batch.count + state.waiting.count
                    state.waiting = []
                    return .failure(CollectorFailure(error))
                }
            }
        }
    }

    /// Whether a trace that begins here is recorded. Every service with the same ratio decides the same for one trace.
    private func isSampled(_ traceID: String) -> Bool {
        guard sampleRatio < 1 else { return true }
        let value = UInt64(traceID.suffix(14), radix: 16) ?? 0
        return Double(value) < sampleRatio * 0x1p56
    }

    /// `count` random hexadecimal digits, at least one of which is not 0.
    private static func randomDigits(_ count: Int) -> String {
        var digits = ""
        while !digits.contains(where: { $0 != "0" }) {
            digits = ""
            while digits.utf8.count < count {
                let part = String(UInt32.random(in: 0...UInt32.max), radix: 16)
                digits += String(repeating: "0", count: 8 - part.utf8.count) + part
            }
        }
        return digits
    }
}
