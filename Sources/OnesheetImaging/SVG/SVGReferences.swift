import OnesheetCore

/// What the elements of an SVG file refer to. Each reference stays within the file, and the elements that are drawn for them are bounded: a few that
/// repeat each other ten times over, as copies, patterns or masks, would otherwise be billions.
struct SVGReferences {
    /// The most elements, with those that are repeated.
    private static let mostElements = 200_000
    /// The longest chain of references.
    private static let longestChain = 16
    /// The longest id that is referred to, in bytes.
    private static let longestID = 200

    /// The functions that paints, transforms and styles may have, in lower case. They load nothing.
    private static let functions: Set = [
        "url", "rgb", "rgba", "hsl", "hsla", "matrix", "translate", "translatex", "translatey", "scale", "scalex", "scaley",
        "rotate", "skewx", "skewy", "var", "calc",
    ]

    private var count = 0
    /// The number behind the last element within each element.
    private var ends: [Int] = []
    /// The numbers of the elements that have not ended, with their ids.
    private var open: [(element: Int, id: String?)] = []
    /// The elements of each id, itself included.
    private var parts: [String: Range<Int>] = [:]
    /// In the order of the elements.
    private var targets: [(element: Int, id: String)] = []
    private var sizes: [String: Int] = [:]
    /// Whether the element of an id holds colours and nothing that is drawn.
    private var gradients: [String: Bool] = [:]
    /// The targets in style sheets.
    private var styled: Set<String> = []

    mutating func begin() {
        open.append((count, nil))
        count += 1
        ends.append(count)
    }

    mutating func end() {
        let (element, id) = open.removeLast()
        ends[element] = count
        // The first with an id counts.
        if let id, parts[id].map({ element < $0.lowerBound }) ?? true { parts[id] = element..<count }
    }

    /// Notes the id of the innermost element.
    mutating func define(_ id: String, on element: String) {
        open[open.count - 1].id = id
        if gradients[id] == nil { gradients[id] = element.ends(withBytesOf: "Gradient") }
    }

    /// Notes the target of the innermost element, such as `#a`.
    mutating func add(target: String) throws(XMLRefusal) {
        targets.append((count - 1, try Self.id(target[...])))
    }

    /// Checks a style sheet, and notes its targets.
    mutating func add(style: String) throws(XMLRefusal) {
        guard !style.contains(mark: "@") else { throw XMLRefusal("its style has a rule that begins with “@”") }
        styled.formUnion(try Self.targets(in: style))
    }

    /// Checks the value of an attribute of the innermost element, whatever it means, and notes its targets.
    mutating func add(value: String) throws(XMLRefusal) {
        for id in try Self.targets(in: value) { targets.append((count - 1, id)) }
    }

    /// The id of `#a`. One with an escape would be another for browsers.
    private static func id(_ target: Substring) throws(XMLRefusal) -> String {
        guard target.utf8.first == UInt8(ascii: "#"), !target.utf8.contains(UInt8(ascii: "%")) else {
            throw XMLRefusal("it refers to something outside of itself")
        }
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
            guard function.isExactly("url") else { continue }
            var target = after.utf8.drop { $0 <= 0x20 }
            if let first = target.first, "\"'".utf8.contains(first) { target = target.dropFirst() }
            // A bound, because the end of one may be missing a hundred thousand times.
            let fragment = target.prefix(longestID + 1).prefix { $0 > 0x20 && !"\"')".utf8.contains($0) }
            guard fragment.count <= longestID else { throw XMLRefusal("it refers to something outside of itself") }
            targets.append(try id(Substring(fragment)))
        }
        return targets
    }

    /// - Throws: if the references go round in a circle, or repeat too much.
    mutating func check() throws(XMLRefusal) {
        var total = try size(of: 0..<count, chain: 0)
        // A style sheet is not matched to elements here, so each of its targets counts as used by every element of every other.
        for id in styled where gradients[id] == false {
            guard let part = parts[id], total <= Self.mostElements else { continue }
            total *= max(try size(of: part, chain: 0) - 1, 1)
        }
        guard total <= Self.mostElements else { throw XMLRefusal("it repeats too many elements") }
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
            guard gradients[id] != true, let part = parts[id] else { continue }
            var size = sizes[id] ?? 0
            if size == 0 { size = min(try self.size(of: part, chain: chain + 1), Self.mostElements + 1) }
            sizes[id] = size
            // Elements inherit paints, so each within this one may be painted with it.
            sum += size * (ends[element] - element)
        }
        return sum
    }
}
