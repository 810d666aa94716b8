import OnesheetValues

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

    /// A number or `auto`. 0 is `nil`, the server's own default.
    mutating func quality() throws(RequestError) -> ImageOptions.Quality? {
        guard let text = text() else { return nil }
        if text == "auto" { return .automatic }
        guard let value = Int(text), (0...100).contains(value) else {
            throw .bad(option: name, value: String(text), reason: "needs a whole number from 0 to 100, or auto")
        }
        return value == 0 ? nil : .number(value)
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
        // The spellings of Go's `strconv.ParseBool`, with which imgproxy parses flags.
        switch text {
        case "1", "t", "T", "true", "TRUE", "True": return true
        case "0", "f", "F", "false", "FALSE", "False": return false
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
        if text == "pt" {
            guard let x = try number(0...65_535), let y = try number(0...65_535) else {
                throw .bad(option: name, value: all, reason: "a point needs x and y in pixels")
            }
            return .point(x: x, y: y)
        }
        if text == "obj" || text == "objw" {
            throw .bad(option: name, value: String(text), reason: "belongs to imgproxy's paid version and is not supported here")
        }
        guard let point = Self.compass[text] else {
            throw .bad(
                option: name, value: String(text),
                reason: "needs ce, no, so, ea, we, noea, nowe, soea, sowe, sm, fp:x:y or pt:x:y")
        }
        let offsets = -65_535.0...65_535.0
        guard let across = try number(offsets) else {
            // The offset for y can be given without one for x.
            guard let down = try number(offsets) else { return .compass(x: point.x, y: point.y) }
            return .offset(x: point.x, y: point.y, across: 0, down: down)
        }
        let down = try number(offsets) ?? 0
        if text == "nowe", let x = Int(exactly: across), let y = Int(exactly: down), x >= 0, y >= 0 { return .corner(x: x, y: y) }
        return across == 0 && down == 0
            ? .compass(x: point.x, y: point.y) : .offset(x: point.x, y: point.y, across: across, down: down)
    }

    /// `ffffff` or `fff`.
    mutating func color() throws(RequestError) -> Color? {
        guard let text = text() else { return nil }
        guard let color = Color(digits: text) else {
            throw .bad(option: name, value: String(text), reason: "needs six hexadecimal digits, or three")
        }
        return color
    }

    static let compass: [Substring: (x: Int, y: Int)] = [
        "ce": (0, 0), "no": (0, -1), "so": (0, 1), "ea": (1, 0), "we": (-1, 0), "noea": (1, -1), "nowe": (-1, -1), "soea": (1, 1),
        "sowe": (-1, 1),
    ]

    /// - Throws: `RequestError` if arguments are left over.
    func finish() throws(RequestError) {
        guard rest.allSatisfy(\.isEmpty) else {
            throw .bad(option: name, value: all, reason: "has too many arguments: “\(rest.joined(separator: ":"))”")
        }
    }
}

extension Color {
    /// Parses `ffffff` or `fff`.
    init?(digits: Substring) {
        let hex = digits.utf8.count == 3 ? digits.flatMap { [$0, $0] }.map(String.init).joined() : String(digits)
        guard let bytes = [UInt8](hex: hex), bytes.count == 3 else { return nil }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2])
    }
}

extension Gravity {
    /// This gravity if it has offsets in pixels, otherwise `nil`: the others mean the same at any size.
    var ofOriginal: Gravity? {
        switch self {
        case .corner, .offset: self
        case .compass, .focus, .smart, .point: nil
        }
    }

    /// The same gravity for a picture that is `ratio` times as large. Offsets below 1 are fractions and do not change.
    func scaled(by ratio: Double) -> Gravity {
        func scaled(_ offset: Double) -> Double { abs(offset) < 1 ? offset : offset * ratio }
        switch self {
        case .corner(let x, let y):
            return .corner(x: Int(saturating: (Double(x) * ratio).rounded()), y: Int(saturating: (Double(y) * ratio).rounded()))
        case .offset(let x, let y, let across, let down):
            return .offset(x: x, y: y, across: scaled(across), down: scaled(down))
        case .compass, .focus, .smart, .point: return self
        }
    }
}
