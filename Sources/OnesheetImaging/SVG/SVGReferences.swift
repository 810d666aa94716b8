import OnesheetCore

/// What the elements of an SVG file refer to. Each reference stays within the file, and the elements that `use` repeats are bounded: a few that
/// repeat each other ten times over would otherwise be billions.
struct SVGReferences {
    /// The most elements, with those that are repeated.
    private static let mostElements = 200_000
    /// The longest chain of references.
    private static let longestChain = 16

    /// The functions that paints, transforms and styles may have, in lower case. They load nothing.
    private static let functions: Set = [
        "url", "rgb", "rgba", "hsl", "hsla", "matrix", "translate", "translatex", "translatey", "scale", "scalex", "scaley",
        "rotate", "skewx", "skewy", "var", "calc",
    ]

    private var count = 0
    /// The numbers of the elements that have not ended, with their ids.
    private var open: [(element: Int, id: String?)] = []
    /// The elements of each id, itself included.
    private var parts: [String: Range<Int>] = [:]
    /// In the order of the elements.
    private var targets: [(element: Int, id: String)] = []
    private var sizes: [String: Int] = [:]

    mutating func begin() {
        open.append((count, nil))
        count += 1
    }

    mutating func end() {
        let (element, id) = open.removeLast()
        // The first with an id counts.
        if let id, parts[id].map({ element < $0.lowerBound }) ?? true { parts[id] = element..<count }
    }

    /// Notes the id of the innermost element.
    mutating func define(_ id: String) { open[open.count - 1].id = id }

    /// Notes the target of the innermost element, such as `#a`.
    mutating func add(target: String) throws(XMLRefusal) {
        guard target.starts(withBytesOf: "#") else { throw XMLRefusal("it refers to something outside of itself") }
        targets.append((count - 1, String(target.dropFirst(bytes: 1))))
    }

    /// Checks a style sheet.
    static func check(style: String) throws(XMLRefusal) {
        guard !style.contains(mark: "@") else { throw XMLRefusal("its style has a rule that begins with “@”") }
        try check(value: style)
    }

    /// Checks the value of an attribute, whatever it means.
    /// - Throws: if there is a function that could load something, or an escape that could hide one.
    static func check(value: String) throws(XMLRefusal) {
        guard !value.contains(mark: "\\") else { throw XMLRefusal("it has an escape in a style") }
        var rest = value[...]
        while let (before, after) = rest.cut(at: "(") {
            rest = after
            let name = before.utf8.reversed().drop { $0 <= 0x20 }.prefix { $0 > 0x20 && !" ,;:(){}/*".utf8.contains($0) }
            let function = String(decoding: name.reversed(), as: UTF8.self).lowercasedASCII()
            guard functions.contains(function) else {
                throw XMLRefusal("a function “\(function.shortened(to: 40))” is not allowed")
            }
            guard function.isExactly("url") else { continue }
            var target = after.utf8.drop { $0 <= 0x20 }
            if let first = target.first, "\"'".utf8.contains(first) { target = target.dropFirst() }
            guard target.first == UInt8(ascii: "#") else { throw XMLRefusal("it refers to something outside of itself") }
        }
    }

    /// - Throws: if the references go round in a circle, or repeat too much.
    mutating func check() throws(XMLRefusal) {
        guard try size(of: 0..<count, chain: 0) <= Self.mostElements else { throw XMLRefusal("it repeats too many elements") }
    }

    /// The number of elements in `range`, with those that they repeat, up to some more than the limit.
    private mutating func size(of range: Range<Int>, chain: Int) throws(XMLRefusal) -> Int {
        // A circle is a chain without end.
        guard chain <= Self.longestChain else { throw XMLRefusal("its references are nested too deeply") }
        var sum = range.count
        var (low, high) = (0, targets.count)
        while low < high {
            let middle = (low + high) / 2
            if targets[middle].element < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        for (element, id) in targets[low...] {
            guard element < range.upperBound, sum <= Self.mostElements else { break }
            guard let part = parts[id] else { continue }
            var size = sizes[id]
            if size == nil { size = try self.size(of: part, chain: chain + 1) }
            sizes[id] = size
            sum += size ?? 0
        }
        return sum
    }
}
