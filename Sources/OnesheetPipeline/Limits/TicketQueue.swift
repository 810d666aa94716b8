/// A first-in-first-out queue from which any element can be removed by its ticket. Removing n elements takes O(n) in all.
struct TicketQueue<Element: Sendable>: Sendable {
    private var elements: [UInt64: Element] = [:]
    /// The tickets in order, including removed ones. They are cleared once they outnumber the waiting ones.
    private var order: [UInt64] = []
    private var head = 0

    var count: Int { elements.count }

    /// Slots in memory, including those of removed elements.
    var places: Int { order.count }

    /// - Parameter ticket: a new ticket.
    mutating func append(_ ticket: UInt64, _ element: Element) {
        elements[ticket] = element
        order.append(ticket)
    }

    /// Removes the element of `ticket`, if it is present.
    mutating func remove(_ ticket: UInt64) -> Element? {
        defer { clearAway() }
        return elements.removeValue(forKey: ticket)
    }

    /// Removes the first element.
    mutating func removeFirst() -> (ticket: UInt64, element: Element)? {
        defer { clearAway() }
        while head < order.count {
            let ticket = order[head]
            head += 1
            if let element = elements.removeValue(forKey: ticket) { return (ticket, element) }
        }
        return nil
    }

    /// The ticket of the first element.
    var firstTicket: UInt64? { order[head...].first { elements[$0] != nil } }

    /// The ticket of the first element that satisfies `condition`.
    func firstTicket(where condition: (Element) -> Bool) -> UInt64? {
        order[head...].first { elements[$0].map(condition) ?? false }
    }

    /// The ticket of the last element whose ticket satisfies `condition`.
    func lastTicket(where condition: (UInt64) -> Bool) -> UInt64? {
        order[head...].last { elements[$0] != nil && condition($0) }
    }

    /// The element of `ticket`, if it is present.
    func element(of ticket: UInt64) -> Element? { elements[ticket] }

    /// Removes all elements, in order.
    mutating func removeAll() -> [Element] {
        var all: [Element] = []
        while let next = removeFirst() { all.append(next.element) }
        return all
    }

    private mutating func clearAway() {
        // The first place is always that of an element, so that finding it is no search.
        while head < order.count, elements[order[head]] == nil { head += 1 }
        guard order.count > 2 * elements.count + 16 else { return }
        order = order[head...].filter { elements[$0] != nil }
        head = 0
    }
}
