package import Tracing

/// The position of a piece of work in a distributed trace, in the form of W3C Trace Context (<https://www.w3.org/TR/trace-context/>).
package struct TraceContext: Sendable, Equatable {
    /// 32 hexadecimal digits.
    package let traceID: String
    /// The span that the next one belongs to, or that passes it on: 16 hexadecimal digits.
    package let spanID: String
    /// Whether a caller records the trace.
    package let isSampled: Bool
    /// Members of vendors, in their own formats; at most 32 members and 512 bytes.
    package let state: String?

    package init(traceID: String, spanID: String, isSampled: Bool, state: String? = nil) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
    }

    /// Reads the two header fields. A malformed `tracestate` is dropped; a malformed `traceparent` is no trace at all (§3.2, §3.3).
    package init?(parent: String, state: String?) {
        let bytes = Array(parent.utf8)
        // version "-" trace-id "-" parent-id "-" flags; later versions may add more.
        guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            let version = Self.digits(bytes[0..<2]), version != "ff",
            bytes.count == 55 || version != "00" && bytes[55] == UInt8(ascii: "-"),
            let traceID = Self.digits(bytes[3..<35]), traceID.contains(where: { $0 != "0" }),
            let spanID = Self.digits(bytes[36..<52]), spanID.contains(where: { $0 != "0" }),
            let flags = Self.digits(bytes[53..<55]), let bits = UInt8(flags, radix: 16)
        else { return nil }
        self.init(traceID: traceID, spanID: spanID, isSampled: bits & 1 == 1, state: state.flatMap(Self.state))
    }

    /// The value of `traceparent` for the next participant.
    package var parent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    /// The trace of the current task; `nil` if there is none, or if the tracer of an embedding program keeps it in its own form.
    package static var current: TraceContext? { InstrumentationContext.current?[TraceContextKey.self] }

    /// Lower-case hexadecimal digits, the only ones allowed.
    private static func digits(_ bytes: ArraySlice<UInt8>) -> String? {
        let isRight = bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return isRight ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// The list without empty members; `nil` if it is malformed or too long.
    private static func state(_ text: String) -> String? {
        guard text.utf8.count <= 512 else { return nil }
        let members = text.split(separator: ",").map { $0.drop { $0 == " " || $0 == "\t" } }.filter { !$0.isEmpty }
        var keys: Set<Substring> = []
        for member in members {
            guard let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")), keys.insert(member[..<equals]).inserted,
                isKey(member[..<equals]), isValue(member[member.utf8.index(after: equals)...])
            else { return nil }
        }
        return members.isEmpty || members.count > 32 ? nil : members.joined(separator: ",")
    }

    private static func isKey(_ key: Substring) -> Bool {
        guard (1...256).contains(key.utf8.count), let first = key.utf8.first else { return false }
        let isBegun = (0x61...0x7A).contains(first) || (0x30...0x39).contains(first)
        return isBegun
            && key.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "_-*/@".utf8.contains($0) }
    }

    private static func isValue(_ value: Substring) -> Bool {
        (1...256).contains(value.utf8.count)
            && value.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
    }
}

/// Where `TraceContext` is in an `InstrumentationContext`.
enum TraceContextKey: InstrumentationContextKey {
    typealias Value = TraceContext
}

extension InstrumentationContext {
    package var trace: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }
}
