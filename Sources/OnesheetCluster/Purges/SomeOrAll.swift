/// Some elements, or all there are. Too many become all.
struct SomeOrAll<Element: Hashable & Sendable>: Sendable, Equatable {
    private(set) var isAll = false
    /// Empty if it is all.
    private(set) var elements: Set<Element> = []

    /// The most elements. Beyond them, the work for all costs less than that for each.
    static var limit: Int { 1000 }

    init() {}
    init(_ elements: some Sequence<Element>) { for element in elements { add(element) } }

    static var all: Self {
        var all = Self()
        all.addAll()
        return all
    }

    var isEmpty: Bool { !isAll && elements.isEmpty }
    /// For metrics: the number of elements, 1 for all.
    var count: Int { isAll ? 1 : elements.count }

    mutating func addAll() { (isAll, elements) = (true, []) }

    mutating func add(_ element: Element) {
        guard !isAll else { return }
        elements.insert(element)
        if elements.count > Self.limit { addAll() }
    }

    mutating func add(_ other: Self) {
        if other.isAll { addAll() }
        for element in other.elements { add(element) }
    }
}
