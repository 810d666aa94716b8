internal import OnesheetCore

/// The values of an `Accept`, `Accept-Encoding` or `Accept-Language` field, with their weights (RFC 9110 §12.4.2, §12.5).
package struct WeightedValues: Sendable {
    package struct Value: Sendable {
        /// In lower case, without parameters: `image/*`, `gzip`, `ko-kr`.
        package let name: String
        /// How much the client likes it, from 0 (not acceptable) to 1. A weight that is no number counts as none.
        package let quality: Double

        fileprivate init?(_ text: Substring) {
            let parts = text.pieces(at: ";").map { part in
                String(decoding: part.utf8.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self).lowercasedASCII()
            }
            guard let name = parts.first, !name.isEmpty else { return nil }
            self.name = name
            let weight = parts.dropFirst().first { $0.starts(withBytesOf: "q=") }
            quality = weight.flatMap { Double($0.dropFirst(bytes: 2)) }.map { $0.isNaN ? 0 : min(max($0, 0), 1) } ?? 1
        }
    }

    /// The most bytes that are read of a field, and the most values. Browsers send less than 200 bytes. Event loops read it for each request,
    /// and over HTTP/2 a field that is repeated takes a client one byte (HPACK's table).
    private static let (longest, most) = (1024, 32)

    /// In the client's order.
    package let all: [Value]

    /// Reads the first values of a field.
    package init(_ field: String?) {
        var text = (field ?? "")[...]
        if text.utf8.count > Self.longest {
            // Without the value that is cut off.
            let start = Substring(text.utf8.prefix(Self.longest))
            text = start.cut(atLast: ",")?.before ?? ""
        }
        all = text.pieces(at: ",", maxSplits: Self.most).prefix(Self.most).compactMap(Value.init)
    }

    /// How much the client likes `name`, which is in lower case. Wildcards do not count. `nil` if the field does not have it.
    package func quality(of name: String) -> Double? { all.filter { $0.name.isExactly(name) }.map(\.quality).max() }

    /// Whether the client names `name` and accepts it. Clients that send only a wildcard do not ask for anything special.
    package func asks(for name: String) -> Bool { quality(of: name) ?? 0 > 0 }
}
