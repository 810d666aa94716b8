import OnesheetCore

/// Parses thumbor's filters, `quality(80):format(webp)`, as far as a transform can express them.
enum ThumborFilters {
    /// The least and the most arguments of each filter.
    private static let arguments: [String: ClosedRange<Int>] = [
        "quality": 1...1, "format": 1...1, "max_bytes": 1...1, "background_color": 1...1, "fill": 1...2, "blur": 1...2,
        "upscale": 0...0, "no_upscale": 0...0, "strip_exif": 0...0, "strip_icc": 0...0,
    ]

    /// - Parameter text: without the last closing parenthesis.
    /// - Returns: the same in Onesheet's grammar.
    static func options(_ text: Substring) throws(RequestError) -> [String] {
        var options: [String] = []
        var rest: Substring? = text
        while let text = rest {
            let end = text.firstRange(ofBytesOf: "):")
            let filter = text[..<(end?.lowerBound ?? text.endIndex)]
            rest = end.map { text[$0.upperBound...] }
            guard let (name, values) = filter.cut(at: "(") else {
                throw .malformed("“\(filter)” is not a filter such as quality(80)")
            }
            options += try lowered(String(name), values)
        }
        return options
    }

    private static func lowered(_ name: String, _ text: Substring) throws(RequestError) -> [String] {
        guard let count = arguments[name] else { throw .unknown(unknownName(name, kind: "filter", known: arguments.keys)) }
        let values = text.pieces(at: ",")
        guard count.contains(values.count) else {
            throw .bad(
                option: name, value: String(text), reason: "needs \(count.lowerBound) to \(count.upperBound) arguments")
        }
        return switch name {
        case "background_color": ["background:\(values[0])"]
        case "fill": ["extend:1"] + (values[0] == "transparent" ? [] : ["background:\(values[0])"])
        // The second argument is the standard deviation; without it, the radius is.
        case "blur": ["blur:\(values[values.count - 1])"]
        case "upscale": ["enlarge:1"]
        case "no_upscale": ["enlarge:0"]
        // Both are the default here.
        case "strip_exif", "strip_icc": []
        default: ["\(name):\(values[0])"]
        }
    }
}
