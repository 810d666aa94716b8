/// Parses one option's arguments in order. An empty or missing argument keeps the present value, which readers with `or` take.
package struct OptionArguments {
    /// The valid widths and heights in a URL. `Limits.outputPixels` bounds the variant's size as well.
    static let sides = 0...65_535

    package let name: String
    package let all: String
    private var rest: ArraySlice<Substring>

    package init(_ option: Substring) {
        let parts = option.pieces(at: ":", omittingEmptySubsequences: false)
        name = String(parts[0])
        rest = parts.dropFirst()
        all = rest.joined(separator: ":")
    }

    var isEmpty: Bool { rest.isEmpty }
    /// Whether every argument that is left is empty.
    var isBlank: Bool { rest.allSatisfy(\.isEmpty) }

    package mutating func text() -> Substring? {
        guard let next = rest.popFirst(), !next.isEmpty else { return nil }
        return next
    }

    mutating func integer(_ range: ClosedRange<Int>, or present: Int) throws(RequestError) -> Int {
        try integer(range) ?? present
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
    mutating func quality(or present: ParsedOptions.Quality?) throws(RequestError) -> ParsedOptions.Quality? {
        guard let text = text() else { return present }
        if text == "auto" { return .automatic }
        guard let value = Int(text), (0...100).contains(value) else {
            throw .bad(option: name, value: String(text), reason: "needs a whole number from 0 to 100, or auto")
        }
        return value == 0 ? nil : .number(value)
    }

    mutating func number(_ range: ClosedRange<Double>, or present: Double) throws(RequestError) -> Double {
        try number(range) ?? present
    }

    /// A number; -0 is 0, because cache keys have the text of a number.
    mutating func number(_ range: ClosedRange<Double>) throws(RequestError) -> Double? {
        guard let text = text() else { return nil }
        guard let value = Double(text), range.contains(value) else {
            throw .bad(option: name, value: String(text), reason: "needs a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value == 0 ? 0 : value
    }

    mutating func flag(or present: Bool) throws(RequestError) -> Bool { try flag() ?? present }

    mutating func flag() throws(RequestError) -> Bool? {
        guard let text = text() else { return nil }
        // The spellings of Go's `strconv.ParseBool`, with which imgproxy parses flags.
        switch text {
        case "1", "t", "T", "true", "TRUE", "True": return true
        case "0", "f", "F", "false", "FALSE", "False": return false
        default: throw .bad(option: name, value: String(text), reason: "needs 1 or 0")
        }
    }

    mutating func gravity(or present: Gravity) throws(RequestError) -> Gravity { try gravity() ?? present }

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

    /// One number for all sides, two for vertical and horizontal, or four clockwise from the top, as in CSS; `nil` if all are 0.
    mutating func padding(
        _ range: ClosedRange<Int>, or present: Transform.Padding?
    ) throws(RequestError) -> Transform.Padding? {
        let (first, second, third, fourth) = (try integer(range), try integer(range), try integer(range), try integer(range))
        let top = first ?? present?.top ?? 0
        let right = second ?? first ?? present?.right ?? 0
        let bottom = third ?? first ?? present?.bottom ?? 0
        let left = fourth ?? second ?? first ?? present?.left ?? 0
        return top + right + bottom + left == 0 ? nil : Transform.Padding(top: top, right: right, bottom: bottom, left: left)
    }

    /// Whether there is a canvas, and the position of the image on it.
    mutating func position(or present: Gravity?) throws(RequestError) -> Gravity? {
        let hasCanvas = try flag(or: present != nil)
        let gravity = try gravity(or: present ?? .center)
        return hasCanvas ? gravity : nil
    }

    /// `255:255:255`, `ffffff` or `fff`; `nil` without any, which removes the background, as in imgproxy.
    mutating func background() throws(RequestError) -> Color? {
        guard let first = text() else { return nil }
        if isEmpty {
            guard let color = Color(digits: first) else {
                throw .bad(option: name, value: String(first), reason: "needs r:g:b or six hexadecimal digits")
            }
            return color
        }
        guard let red = UInt8(first), let green = try integer(0...255), let blue = try integer(0...255) else {
            throw .bad(option: name, value: all, reason: "needs three numbers from 0 to 255")
        }
        return Color(red: red, green: UInt8(green), blue: UInt8(blue))
    }

    /// `ffffff` or `fff`.
    mutating func color(or present: Color?) throws(RequestError) -> Color? {
        guard let text = text() else { return present }
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
    package func finish() throws(RequestError) {
        guard isBlank else {
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
