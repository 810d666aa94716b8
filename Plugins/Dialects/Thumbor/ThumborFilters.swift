import OnesheetCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// thumbor's filters, such as `quality(80):format(webp)`, translated into Onesheet's options.
struct ThumborFilters {
    /// In Onesheet's grammar.
    private(set) var options: [String] = []
    /// Degrees clockwise by which the finished picture is turned: 0, 90, 180 or 270.
    private(set) var rotation = 0
    /// The point that stays in the picture, in pixels of the original.
    private(set) var focus: (x: Double, y: Double)?

    /// The number of arguments that each filter takes.
    private static let arguments: [String: ClosedRange<Int>] = [
        "quality": 1...1, "format": 1...1, "max_bytes": 1...1, "background_color": 1...1, "fill": 1...2, "blur": 1...2,
        "upscale": 0...0, "no_upscale": 0...0, "strip_exif": 0...0, "strip_icc": 0...0, "rotate": 1...1, "grayscale": 0...0,
        "focal": 1...1,
    ]

    /// - Parameter text: without the last closing parenthesis.
    init(_ text: Substring) throws(RequestError) {
        var rest: Substring? = text
        while let text = rest {
            let end = text.firstRange(ofBytesOf: "):")
            let filter = text[..<(end?.lowerBound ?? text.endIndex)]
            rest = end.map { text[$0.upperBound...] }
            guard let (name, values) = filter.cut(at: "(") else {
                throw .malformed("“\(filter)” is not a filter such as quality(80)")
            }
            try add(String(name), values)
        }
    }

    init() {}

    private mutating func add(_ name: String, _ text: Substring) throws(RequestError) {
        guard let count = Self.arguments[name] else {
            throw .unknown(unknownName(name, kind: "filter", known: Self.arguments.keys))
        }
        let values = text.pieces(at: ",")
        guard count.contains(values.count) else {
            throw .bad(
                option: name, value: String(text), reason: "needs \(count.lowerBound) to \(count.upperBound) arguments")
        }
        switch name {
        case "background_color": options.append("background:\(try color(name, values[0]))")
        case "fill":
            options.append("extend:1")
            if values[0] != "transparent" { options.append("background:\(try color(name, values[0]))") }
        case "blur": options.append("blur:\(try deviation(name, values))")
        case "upscale": options.append("enlarge:1")
        case "no_upscale": options.append("enlarge:0")
        // The server always does both: it removes metadata and converts to sRGB.
        case "strip_exif", "strip_icc": break
        case "grayscale": options.append("gray:1")
        case "rotate": try rotate(name, values[0])
        case "focal": try setFocus(name, values[0])
        default: options.append("\(name):\(values[0])")
        }
    }

    /// Six or three hexadecimal digits, or the name of a colour.
    private func color(_ name: String, _ text: Substring) throws(RequestError) -> String {
        let digits = text.starts(withBytesOf: "#") ? text.dropFirst(bytes: 1) : text
        if let named = NamedColors.digits[digits.lowercasedASCII()] { return named }
        guard [3, 6].contains(digits.utf8.count), digits.allSatisfy(\.isHexDigit) else {
            throw .bad(option: name, value: String(text), reason: "is neither the name of a colour nor hexadecimal digits")
        }
        return String(digits)
    }

    /// The radius of thumbor's longest kernel.
    private static let longestRadius = 150
    /// The number of deviations beyond which the weights of a kernel are too small to be visible.
    static let wholeKernel = 3.0

    /// The standard deviation of a blur that looks like thumbor's: its kernel ends at the radius, and the radius is the deviation if none is
    /// given (`thumbor/filters/blur.py`).
    private func deviation(_ name: String, _ values: [Substring]) throws(RequestError) -> Double {
        let given = values.count == 2 ? Double(values[1]) : 0
        guard let radius = Int(values[0]), radius > 0, let given, given >= 0, given.isFinite else {
            throw .bad(
                option: name, value: values.joined(separator: ","),
                reason: "needs a whole radius above 0, and a deviation that is not negative if one is given")
        }
        let deviation = given > 0 ? given : Double(radius)
        let end = min(radius, Self.longestRadius)
        guard Double(end) < deviation * Self.wholeKernel else { return deviation }
        let distances = (1...end).map { Double($0) }
        let weights = distances.map { exp(-$0 * $0 / (2 * deviation * deviation)) }
        let variance = zip(distances, weights).reduce(0) { $0 + 2 * $1.0 * $1.0 * $1.1 } / weights.reduce(1) { $0 + 2 * $1 }
        return variance.squareRoot()
    }

    /// thumbor counts counterclockwise.
    private mutating func rotate(_ name: String, _ text: Substring) throws(RequestError) {
        guard let degrees = Int(text), (0..<360).contains(degrees), degrees.isMultiple(of: 90) else {
            throw .bad(option: name, value: String(text), reason: "needs 0, 90, 180 or 270")
        }
        rotation = (rotation + 360 - degrees) % 360
    }

    /// `left x top : right x bottom`, whose middle is the point.
    private mutating func setFocus(_ name: String, _ text: Substring) throws(RequestError) {
        let edges = text.pieces(at: ":").flatMap { $0.pieces(at: "x") }.compactMap { Int($0) }
        guard edges.count == 4, edges.allSatisfy({ (0...65_535).contains($0) }), edges[2] >= edges[0], edges[3] >= edges[1] else {
            throw .bad(option: name, value: String(text), reason: "needs {left}x{top}:{right}x{bottom} in pixels")
        }
        focus = (Double(edges[0] + edges[2]) / 2, Double(edges[1] + edges[3]) / 2)
    }
}
