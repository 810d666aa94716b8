import OnesheetCore

/// What the elements of an SVG file refer to. Each reference stays within the file, and what is drawn for all of them is bounded: a few elements
/// that repeat each other ten times over, as copies, patterns or masks, would otherwise be billions.
struct SVGReferences {
    /// The most elements, with those that are repeated. One with long attributes or texts counts more than once.
    private static let mostElements = 50_000
    /// The bytes of attributes and texts that count as a further element.
    private static let bytesOfOne = 256
    /// The longest chain of references.
    private static let longestChain = 16
    /// The longest id that is referred to, in bytes.
    private static let longestID = 200

    /// The functions that paints, transforms and styles may have, in lower case. They load nothing.
    private static let functions: Set = [
        "url", "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "matrix", "translate", "translatex",
        "translatey", "scale", "scalex", "scaley", "rotate", "skewx", "skewy", "var", "calc",
    ]

    private struct Reference {
        let element: Int
        let id: String
        /// Whether elements are copied to this place. Otherwise the element and all within it may be painted with them.
        let isCopy: Bool
    }

    /// For each element, the weight of those up to it. Its count is that of the elements.
    private var weights: [Int] = []
    /// The bytes of texts that do not count yet.
    private var textBytes = 0
    /// For each element, the number behind the last within it.
    private var ends: [Int] = []
    /// The numbers of the elements that have not ended, with their ids.
    private var open: [(element: Int, id: String?)] = []
    /// The elements of each id, itself included.
    private var parts: [String: Range<Int>] = [:]
    /// Whether the element of an id holds colours and nothing that is drawn.
    private var gradients: [String: Bool] = [:]
    /// In the order of the elements.
    private var references: [Reference] = []
    /// The targets in style sheets.
    private var styled: Set<String> = []
    /// What was counted before: by id, and by element.
    private var drawn: [String: Int] = [:]
    private var copied: [Int: Int] = [:]

    /// - Parameter bytes: those of its attributes.
    mutating func begin(bytes: Int) {
        open.append((weights.count, nil))
        weights.append((weights.last ?? 0) + 1 + bytes / Self.bytesOfOne)
        ends.append(weights.count)
    }

    mutating func addText(bytes: Int) {
        guard !weights.isEmpty else { return }
        textBytes += bytes
        weights[weights.count - 1] += textBytes / Self.bytesOfOne
        textBytes %= Self.bytesOfOne
    }

    mutating func end() {
        let (element, id) = open.removeLast()
        ends[element] = weights.count
        // The first with an id counts.
        if let id, parts[id].map({ element < $0.lowerBound }) ?? true { parts[id] = element..<weights.count }
    }

    /// Notes the id of the innermost element.
    mutating func define(_ id: String, on element: String) {
        open[open.count - 1].id = id
        if gradients[id] == nil { gradients[id] = element.ends(withBytesOf: "Gradient") }
    }

    /// Notes the target of the innermost element, such as `#a`.
    mutating func add(target: String) throws(XMLRefusal) {
        references.append(Reference(element: weights.count - 1, id: try Self.id(target[...]), isCopy: true))
    }

    /// Checks the value of an attribute of the innermost element, whatever it means, and notes its targets.
    mutating func add(value: String) throws(XMLRefusal) {
        for id in try Self.targets(in: value) {
            references.append(Reference(element: weights.count - 1, id: id, isCopy: false))
        }
    }

    /// Checks a style sheet, and notes its targets.
    mutating func add(style: String) throws(XMLRefusal) {
        guard !style.contains(mark: "@") else { throw XMLRefusal("its style has a rule that begins with “@”") }
        styled.formUnion(try Self.targets(in: style))
    }

    /// The id of `#a`. With spaces or escapes it would be another for browsers.
    private static func id(_ target: Substring) throws(XMLRefusal) -> String {
        guard target.utf8.first == UInt8(ascii: "#"), target.utf8.count <= longestID,
            target.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "%") })
        else { throw XMLRefusal("it refers to something outside of itself") }
        return String(target.dropFirst(bytes: 1))
    }

    /// The targets of the functions in a value.
    /// - Throws: if there is a function that could load something, or an escape that could hide one.
    private static func targets(in value: String) throws(XMLRefusal) -> [String] {
        guard !value.contains(mark: "\\") else { throw XMLRefusal("it has an escape in a style") }
        var targets: [String] = []
        var rest = value[...]
        while let (before, after) = rest.cut(at: "(") {
            rest = after
            let name = before.utf8.reversed().drop { $0 <= 0x20 }.prefix { $0 > 0x20 && !" ,;:(){}/*".utf8.contains($0) }
            let function = String(decoding: name.reversed(), as: UTF8.self).lowercasedASCII()
            guard functions.contains(function) else {
                throw XMLRefusal("a function “\(function.shortened(to: 40))” is not allowed")
            }
            if function.isExactly("url") { targets.append(try target(after)) }
        }
        return targets
    }

    /// The id in `#a)`, `'#a')` or `"#a")`, with spaces around it or none.
    private static func target(_ text: Substring) throws(XMLRefusal) -> String {
        let quotes = "\"'".utf8
        var rest = text.utf8.drop { $0 <= 0x20 }
        let quote = rest.first.flatMap { quotes.contains($0) ? $0 : nil }
        if quote != nil { rest = rest.dropFirst() }
        // A bound, because the end may be missing a hundred thousand times.
        let id = rest.prefix(longestID + 1).prefix { $0 > 0x20 && !quotes.contains($0) && $0 != UInt8(ascii: ")") }
        rest = rest.dropFirst(id.count)
        if let quote {
            guard rest.first == quote else { throw XMLRefusal("it refers to something outside of itself") }
            rest = rest.dropFirst()
        }
        guard rest.drop(while: { $0 <= 0x20 }).first == UInt8(ascii: ")") else {
            throw XMLRefusal("it refers to something outside of itself")
        }
        return try Self.id(Substring(id))
    }

    /// - Throws: if the references go round in a circle, or repeat too much.
    mutating func check() throws(XMLRefusal) {
        var total = try drawn(in: 0..<weights.count, chain: 0)
        // A style sheet is not matched to elements here, so each of its targets counts as used by every element of every other.
        for id in styled where gradients[id] == false {
            guard let part = parts[id], total <= Self.mostElements else { continue }
            let repeated = try drawn(in: part, chain: 0) - weight(of: part)
            total *= max(repeated + part.count - 1, 1)
        }
        guard total <= Self.mostElements else { throw XMLRefusal("it repeats too many elements") }
    }

    private func weight(of range: Range<Int>) -> Int {
        guard !range.isEmpty else { return 0 }
        return weights[range.upperBound - 1] - (range.lowerBound == 0 ? 0 : weights[range.lowerBound - 1])
    }

    /// The references of the elements in `range`.
    private func references(in range: Range<Int>) -> ArraySlice<Reference> {
        var (low, high) = (0, references.count)
        while low < high {
            let middle = (low + high) / 2
            if references[middle].element < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        return references[low...].prefix { $0.element < range.upperBound }
    }

    /// The weight of the elements in `range` with all that is drawn for them, up to a little more than the limit squared.
    private mutating func drawn(in range: Range<Int>, chain: Int) throws(XMLRefusal) -> Int {
        // A circle is a chain without end.
        guard chain <= Self.longestChain else { throw XMLRefusal("its references are nested too deeply") }
        var sum = weight(of: range)
        for reference in references(in: range) where sum <= Self.mostElements {
            guard gradients[reference.id] != true, let part = parts[reference.id] else { continue }
            var size = drawn[reference.id] ?? 0
            if size == 0 { size = min(try drawn(in: part, chain: chain + 1), Self.mostElements + 1) }
            drawn[reference.id] = size
            let times = reference.isCopy ? 1 : try copies(from: reference.element, chain: chain)
            sum += size * times
        }
        return sum
    }

    /// The number of elements in an element with those that are copied to it, up to a little more than the limit. They inherit its paints.
    private mutating func copies(from element: Int, chain: Int) throws(XMLRefusal) -> Int {
        guard chain <= Self.longestChain else { throw XMLRefusal("its references are nested too deeply") }
        if let known = copied[element] { return known }
        let range = element..<ends[element]
        var sum = range.count
        for reference in references(in: range) where reference.isCopy && sum <= Self.mostElements {
            guard let part = parts[reference.id] else { continue }
            sum += try copies(from: part.lowerBound, chain: chain + 1)
        }
        copied[element] = min(sum, Self.mostElements + 1)
        return min(sum, Self.mostElements + 1)
    }
}
