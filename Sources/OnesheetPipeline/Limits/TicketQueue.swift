/// A first-in-first-out queue from which any element can be removed by its ticket. Removing n elements takes O(n) in all.
struct TicketQueue<Element: Sendable>: Sendable {
    private var elements: [UInt64: Element] = [:]
    /// The tickets in their order, with those that have left: they are cleared away once they are more than those that wait.
    private var order: [UInt64] = []
    private var head = 0

    var count: Int { elements.count }

    /// Places taken in memory, those of who has left included.
    var places: Int { order.count }

    /// - Parameter ticket: one that was not given before.
    mutating func append(_ ticket: UInt64, _ element: Element) {
        elements[ticket] = element
        order.append(ticket)
    }

    /// Takes out the element of `ticket`, if it is there.
    mutating func remove(_ ticket: UInt64) -> Element? {
        defer { clearAway() }
        return elements.removeValue(forKey: ticket)
    }

    /// Takes out the first one.
    mutating func removeFirst() -> (ticket: UInt64, element: Element)? {
        defer { clearAway() }
        while head < order.count {
            let ticket = order[head]
            head += 1
            if let element = elements.removeValue(forKey: ticket) { return (ticket, element) }
        }
        return nil
    }

    /// Takes out all of them, in their order.
    mutating func removeAll() -> [Element] {
        var all: [Element] = []
        while let next = removeFirst() { all.append(next.element) }
        return all
    }

    private mutating func clearAway() {
        guard order.count > 2 * elements.count + 16 else { return }
        order = order[head...].filter { elements[$0] != nil }
        head = 0
    }
}
