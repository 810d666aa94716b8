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
