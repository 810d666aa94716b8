import OnesheetCore

/// What a `Range` field asks for of a body (RFC 9110 §14).
package enum ByteRanges: Equatable {
    /// Everything: there is no such field, it cannot be read, or it asks for more pieces than anybody needs.
    case whole
    case parts([Range<Int>])
    /// Only what lies behind the end.
    case unsatisfiable

    /// More pieces than this cost more than they save (§14.2).
    private static let most = 16

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

    /// The ranges in the field's order, `nil` for each that lies behind the end; no list where the field cannot be read.
    private static func read(_ field: String, size: Int) -> [Range<Int>?]? {
        guard let (unit, list) = field.cut(at: "="), trimmed(unit).lowercasedASCII().isExactly("bytes") else { return nil }
        let specifiers = list.pieces(at: ",").map(trimmed).filter { !$0.isEmpty }
        guard (1...most).contains(specifiers.count) else { return nil }
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

    /// A number that is too large for a machine lies behind every end.
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
