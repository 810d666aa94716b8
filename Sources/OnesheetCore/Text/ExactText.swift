/// A text from outside as origins, disks and databases tell it from others: by its bytes.
///
/// Swift's own texts are equal where they look the same (canonical equivalence): U+212A is a K to them, and an é is an é whether it is
/// written as one character or as two. A dictionary with such keys would return the value of another name.
package struct ExactText: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ text: some StringProtocol) { description = String(text) }

    package static func == (left: Self, right: Self) -> Bool { left.description.isExactly(right.description) }

    /// In the order of the bytes, which is the order of the code points.
    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(exactly: description) }
}

extension ExactText: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { description = value }
}

extension ExactText: Codable {
    package init(from decoder: any Decoder) throws { description = try decoder.singleValueContainer().decode(String.self) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Hasher {
    /// Adds the bytes of `text`, and where they end.
    package mutating func combine(exactly text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
        // No byte of UTF-8 is this one.
        combine(0xFF as UInt8)
    }
}
