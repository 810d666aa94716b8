/// A text from outside, compared by its bytes as origins, disks and databases do.
///
/// Swift compares text by canonical equivalence: U+212A equals K, and an é of one character equals an é of two. A dictionary with
/// such keys would return the value of another name.
package struct ExactText: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ text: some StringProtocol) { description = String(text) }

    package static func == (left: Self, right: Self) -> Bool { left.description.isExactly(right.description) }

    /// The order of the bytes, which is the order of the code points.
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
    /// Adds the bytes of `text` and a terminator.
    package mutating func combine(exactly text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
        // This byte does not occur in UTF-8.
        combine(0xFF as UInt8)
    }
}
