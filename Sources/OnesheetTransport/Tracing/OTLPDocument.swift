import FoundationEssentials
import OnesheetCore
import Tracing

/// Spans in OTLP's JSON encoding: `ExportTraceServiceRequest` with its keys in camel case, 64-bit numbers as texts and ids in hexadecimal.
struct OTLPDocument: Encodable {
    struct Resource: Encodable {
        let attributes: [Attribute]

        init(service: String, version: String) {
            attributes = [
                Attribute(key: "service.name", value: .text(service)), Attribute(key: "service.version", value: .text(version)),
            ]
        }
    }

    struct Attribute: Encodable {
        let key: String
        let value: Value
    }

    enum Value: Encodable {
        case text(String)
        case whole(Int64)
        case fraction(Double)
        case flag(Bool)

        private enum CodingKeys: String, CodingKey { case stringValue, intValue, doubleValue, boolValue }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .text(let text): try container.encode(text.shortened(to: RecordedSpan.maxText), forKey: .stringValue)
            case .whole(let number): try container.encode("\(number)", forKey: .intValue)
            case .fraction(let number):
                // JSON has no infinity.
                if number.isFinite {
                    try container.encode(number, forKey: .doubleValue)
                } else {
                    try container.encode("\(number)", forKey: .stringValue)
                }
            case .flag(let flag): try container.encode(flag, forKey: .boolValue)
            }
        }
    }

    private struct ResourceSpans: Encodable {
        let resource: Resource
        let scopeSpans: [ScopeSpans]
    }

    private struct ScopeSpans: Encodable {
        struct Scope: Encodable {
            let name = "onesheet"
        }
        let scope = Scope()
        let spans: [Span]
    }

    private struct Span: Encodable {
        struct Event: Encodable {
            let timeUnixNano: String
            let name: String
            let attributes: [Attribute]
        }
        struct Status: Encodable {
            let code: Int
            let message: String?
        }
        let traceId: String
        let spanId: String
        let parentSpanId: String?
        let traceState: String?
        let flags: Int
        let name: String
        let kind: Int
        let startTimeUnixNano: String
        let endTimeUnixNano: String
        let attributes: [Attribute]
        let events: [Event]
        let status: Status

        init(_ record: RecordedSpan.Record) {
            traceId = record.trace.traceID
            spanId = record.trace.spanID
            parentSpanId = record.parentID
            traceState = record.trace.state
            flags = 1
            name = record.name.shortened(to: RecordedSpan.maxText)
            kind =
                switch record.kind {
                case .internal: 1
                case .server: 2
                case .client: 3
                case .producer: 4
                case .consumer: 5
                }
            startTimeUnixNano = "\(record.start)"
            endTimeUnixNano = "\(max(record.end, record.start))"
            attributes = OTLPDocument.attributes(record.attributes)
            events = record.events.map {
                Event(
                    timeUnixNano: "\($0.nanosecondsSinceEpoch)", name: $0.name, attributes: OTLPDocument.attributes($0.attributes))
            }
            let code =
                switch record.status?.code {
                case .ok: 1
                case .error: 2
                case nil: 0
                }
            status = Status(code: code, message: record.status?.message?.shortened(to: RecordedSpan.maxText))
        }
    }

    private let resourceSpans: [ResourceSpans]

    init(_ records: [RecordedSpan.Record], of resource: Resource) {
        resourceSpans = [ResourceSpans(resource: resource, scopeSpans: [ScopeSpans(spans: records.map { Span($0) })])]
    }

    /// The document as JSON.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    fileprivate static func attributes(_ attributes: SpanAttributes) -> [Attribute] {
        var all: [Attribute] = []
        attributes.forEach { key, value in all.append(Attribute(key: key, value: Value(value))) }
        return all.sorted { $0.key < $1.key }
    }
}

extension OTLPDocument.Value {
    init(_ attribute: SpanAttribute) {
        self =
            switch attribute {
            case .int32(let number): .whole(Int64(number))
            case .int64(let number): .whole(number)
            case .double(let number): .fraction(number)
            case .bool(let flag): .flag(flag)
            case .string(let text): .text(text)
            case .stringConvertible(let value): .text("\(value)")
            default: .text("\(attribute)")
            }
    }
}
