import OnesheetCore

/// Parses one option's arguments in order. An empty or missing argument is `nil` and keeps the current value.
struct OptionArguments {
    let name: String
    let all: String
    private var rest: ArraySlice<Substring>

    init(_ option: Substring) {
        let parts = option.pieces(at: ":", omittingEmptySubsequences: false)
        name = String(parts[0])
        rest = parts.dropFirst()
        all = rest.joined(separator: ":")
    }

    var isEmpty: Bool { rest.isEmpty }

    mutating func text() -> Substring? {
        guard let next = rest.popFirst(), !next.isEmpty else { return nil }
        return next
    }

    mutating func integer(_ range: ClosedRange<Int>) throws(RequestError) -> Int? {
        guard let text = text() else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw .bad(
                option: name, value: String(text), reason: "needs a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    mutating func number(_ range: ClosedRange<Double>) throws(RequestError) -> Double? {
        guard let text = text() else { return nil }
        guard let value = Double(text), range.contains(value) else {
            throw .bad(option: name, value: String(text), reason: "needs a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    mutating func flag() throws(RequestError) -> Bool? {
        guard let text = text() else { return nil }
        switch text {
        case "1", "t", "true": return true
        case "0", "f", "false": return false
        default: throw .bad(option: name, value: String(text), reason: "needs 1 or 0")
        }
    }

    mutating func gravity() throws(RequestError) -> Gravity? {
        guard let text = text() else { return nil }
        if text == "sm" { return .smart }
        if text == "fp" {
            guard let x = try number(0...1), let y = try number(0...1) else {
                throw .bad(option: name, value: all, reason: "a focal point needs x and y from 0 to 1")
            }
            return .focus(x: x, y: y)
        }
        guard let point = Self.compass[text] else {
            throw .bad(option: name, value: String(text), reason: "needs ce, no, so, ea, we, noea, nowe, soea, sowe, sm or fp:x:y")
        }
        if text == "nowe", let x = try integer(0...65_535), let y = try integer(0...65_535) { return .corner(x: x, y: y) }
        return .compass(x: point.x, y: point.y)
    }

    static let compass: [Substring: (x: Int, y: Int)] = [
        "ce": (0, 0), "no": (0, -1), "so": (0, 1), "ea": (1, 0), "we": (-1, 0), "noea": (1, -1), "nowe": (-1, -1), "soea": (1, 1),
        "sowe": (-1, 1),
    ]

    /// - Throws: `RequestError` if arguments are left over.
    func finish() throws(RequestError) {
        guard rest.allSatisfy(\.isEmpty) else {
            throw .bad(option: name, value: all, reason: "“\(rest.joined(separator: ":"))” is too much")
        }
    }
}
