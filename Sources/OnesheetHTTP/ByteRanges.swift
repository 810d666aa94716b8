package import NIOCore
import OnesheetCore

/// The byte ranges of a `Range` field (RFC 9110 §14).
package enum ByteRanges: Equatable {
    /// The whole body: the field is absent or malformed, or it has too many or overlapping ranges.
    case whole
    case parts([Range<Int>])
    /// Every range is beyond the end.
    case unsatisfiable

    /// The maximum number of ranges. More cost more than they save (RFC 9110 §14.2).
    private static let maxRanges = 16

    package init(_ field: String?, size: Int) {
        guard let field, let ranges = Self.read(field, size: size) else {
            self = .whole
            return
        }
        let parts = ranges.compactMap { $0 }
        let sorted = parts.sorted { $0.lowerBound < $1.lowerBound }
        let overlap = zip(sorted, sorted.dropFirst()).contains { $0.upperBound > $1.lowerBound }
        self = parts.isEmpty ? .unsatisfiable : overlap ? .whole : .parts(parts)
    }

    /// The ranges in field order, with `nil` for a range beyond the end. Returns `nil` if the field is malformed.
    private static func read(_ field: String, size: Int) -> [Range<Int>?]? {
        guard let (unit, list) = field.cut(at: "="), trimmed(unit).lowercasedASCII().isExactly("bytes") else { return nil }
        let specifiers = list.pieces(at: ",").map(trimmed).filter { !$0.isEmpty }
        guard (1...maxRanges).contains(specifiers.count) else { return nil }
        var ranges: [Range<Int>?] = []
        for specifier in specifiers {
            guard let (first, last) = specifier.cut(at: "-") else { return nil }
            switch (number(first), number(last)) {
            case (nil, let length?) where first.isEmpty: ranges.append(length > 0 && size > 0 ? max(0, size - length)..<size : nil)
            case (let start?, nil) where last.isEmpty: ranges.append(start < size ? start..<size : nil)
            case (let start?, let end?) where start <= end: ranges.append(start < size ? start..<min(end, size - 1) + 1 : nil)
            default: return nil
            }
        }
        return ranges
    }

    /// A number too large for `Int` is beyond every end.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text) ?? .max
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.utf8.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return Substring(text)
    }
}

/// A `multipart/byteranges` body (RFC 9110 §14.6).
package struct MultipartRanges {
    package let mediaType: String
    package let body: ByteBuffer

    /// - Parameters:
    ///   - parts: ranges of the whole, and their bytes.
    ///   - size: the bytes of the whole.
    ///   - validator: a hash of the whole, so that no part contains the boundary.
    package init(_ parts: [(range: Range<Int>, bytes: ByteBuffer)], of size: Int, mediaType: String, validator: String) {
        let boundary = "onesheet-\(validator)"
        var body = ByteBuffer()
        for part in parts {
            body.writeString(
                "--\(boundary)\r\nContent-Type: \(mediaType)\r\n"
                    + "Content-Range: \(Self.contentRange(part.range, of: size))\r\n\r\n")
            body.writeImmutableBuffer(part.bytes)
            body.writeString("\r\n")
        }
        body.writeString("--\(boundary)--\r\n")
        self.mediaType = "multipart/byteranges; boundary=\(boundary)"
        self.body = body
    }

    package static func contentRange(_ part: Range<Int>, of size: Int) -> String {
        "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
    }
}

extension ByteBuffer {
    /// A slice of the readable bytes, without a copy.
    package func slice(_ part: Range<Int>) -> ByteBuffer {
        guard let slice = getSlice(at: readerIndex + part.lowerBound, length: part.count) else {
            preconditionFailure("\(part) of \(readableBytes) bytes")
        }
        return slice
    }
}
