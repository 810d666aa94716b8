import Synchronization
package import Tracing

/// A span that is recorded until it ends. Counts and lengths are bounded, because names and values may come from outside.
package final class RecordedSpan: Span {
    /// The maximum number of attributes, and of events.
    static let maxParts = 32
    /// The maximum length of a text in bytes.
    static let maxText = 1024

    /// A span that has ended.
    package struct Record: Sendable {
        package let trace: TraceContext
        package let parentID: String?
        package let kind: SpanKind
        package var name: String
        package let start: UInt64
        package var end: UInt64 = 0
        package var attributes: SpanAttributes = [:]
        package var events: [SpanEvent] = []
        package var status: SpanStatus?
    }

    package let context: InstrumentationContext
    private let record: Mutex<Record?>
    private let onEnd: @Sendable (Record) -> Void

    init(_ record: Record, in context: InstrumentationContext, onEnd: @escaping @Sendable (Record) -> Void) {
        self.context = context
        self.record = Mutex(record)
        self.onEnd = onEnd
    }

    package var isRecording: Bool { record.withLock { $0 != nil } }

    package var operationName: String {
        get { record.withLock { $0?.name } ?? "" }
        set { change { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { record.withLock { $0?.attributes } ?? [:] }
        set { change { if newValue.count <= Self.maxParts { $0.attributes = newValue } } }
    }

    package func setStatus(_ status: SpanStatus) { change { $0.status = status } }

    package func addEvent(_ event: SpanEvent) { change { if $0.events.count < Self.maxParts { $0.events.append(event) } } }

    /// Links are not sent: nothing in the server makes one.
    package func addLink(_ link: SpanLink) {}

    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes["exception.type"] = "\(type(of: error))"
        attributes["exception.message"] = "\(error)"
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    /// Ends the span. Only the first call counts.
    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard
            var ended = record.withLock({ record in
                defer { record = nil }
                return record
            })
        else { return }
        ended.end = instant().nanosecondsSinceEpoch
        onEnd(ended)
    }

    private func change(_ body: (inout Record) -> Void) {
        record.withLock { record in
            guard var changed = record else { return }
            body(&changed)
            record = changed
        }
    }
}
