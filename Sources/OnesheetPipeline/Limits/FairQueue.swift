/// A queue that serves clients in turns: the next element belongs to the client that was served least (start-time fair queueing, Goyal,
/// Vin and Cheng 1996). A client with many elements delays no other client.
///
/// Clients cannot save up turns. A client that returns starts level with the client that was served last.
struct FairQueue<Element: Sendable>: Sendable {
    private struct Line {
        var elements = TicketQueue<Element>()
        /// The service that the client received, on the scale of `level`.
        var served: Double
    }

    /// The maximum number of remembered clients without waiting elements. Each choice of the next element looks at all of them.
    private static var capacity: Int { 512 }

    /// The largest lead of a client over the others, in the unit of `charge`.
    private let longestDebt: Double
    private var lines: [ClientKey: Line] = [:]
    private var clients: [UInt64: ClientKey] = [:]
    /// The service that the last served client had received before.
    private var level = 0.0

    /// - Parameter longestDebt: in the unit of `charge`.
    init(longestDebt: Double) { self.longestDebt = longestDebt }

    var count: Int { clients.count }

    /// The client whose element of `ticket` waits.
    func client(of ticket: UInt64) -> ClientKey? { clients[ticket] }

    /// The number of waiting elements of `client`.
    func count(of client: ClientKey) -> Int { lines[client]?.elements.count ?? 0 }

    /// The lead of `client` over the client that was served last.
    func debt(of client: ClientKey) -> Double { max(0, (lines[client]?.served ?? 0) - level) }

    /// - Parameter ticket: a unique ticket.
    mutating func append(_ ticket: UInt64, _ element: Element, for client: ClientKey) {
        var line = lines[client] ?? Line(served: level)
        line.served = max(line.served, level)
        line.elements.append(ticket, element)
        lines[client] = line
        clients[ticket] = client
    }

    /// Removes the element of `ticket`, if it is waiting.
    mutating func remove(_ ticket: UInt64) -> Element? {
        guard let client = clients.removeValue(forKey: ticket) else { return nil }
        defer { forgetIfLevel(client) }
        return lines[client]?.elements.remove(ticket)
    }

    /// Removes the next element. Among clients with equal service, the element that waits longest is next.
    mutating func removeFirst() -> (ticket: UInt64, element: Element, client: ClientKey)? {
        remove { $0.elements.firstTicket }
    }

    /// Removes the next element that satisfies `condition`. Looks at all elements before it, so it is for short queues.
    mutating func removeFirst(
        where condition: (Element) -> Bool
    ) -> (ticket: UInt64, element: Element, client: ClientKey)? {
        remove { $0.elements.firstTicket(where: condition) }
    }

    /// - Parameter ticket: that of the element of a client that may be next.
    private mutating func remove(
        next ticket: (Line) -> UInt64?
    ) -> (ticket: UInt64, element: Element, client: ClientKey)? {
        var next: (client: ClientKey, served: Double, ticket: UInt64)?
        for (client, line) in lines {
            guard let ticket = ticket(line) else { continue }
            if let known = next, (known.served, known.ticket) < (line.served, ticket) { continue }
            next = (client, line.served, ticket)
        }
        guard let next, let element = lines[next.client]?.elements.remove(next.ticket) else { return nil }
        clients[next.ticket] = nil
        level = max(level, next.served)
        forgetIfLevel(next.client)
        return (next.ticket, element, next.client)
    }

    /// Removes the last element of the client with the most elements, if that client has more than `client` would have with another one.
    mutating func displace(for client: ClientKey) -> (ticket: UInt64, element: Element, client: ClientKey)? {
        guard let (most, line) = lines.max(by: { $0.value.elements.count < $1.value.elements.count }), most != client,
            line.elements.count > count(of: client) + 1, let last = lines[most]?.elements.removeLast()
        else { return nil }
        clients[last.ticket] = nil
        return (last.ticket, last.element, most)
    }

    /// Whether `displace(for:)` would remove an element.
    func canDisplace(for client: ClientKey) -> Bool {
        let own = count(of: client)
        return lines.contains { $0.key != client && $0.value.elements.count > own + 1 }
    }

    /// Counts service that `client` receives at once, without waiting.
    mutating func serve(_ amount: Double, to client: ClientKey) {
        if let line = lines[client] { level = max(level, line.served) }
        charge(amount, to: client)
    }

    /// Counts service for `client`. A negative amount corrects an earlier count.
    mutating func charge(_ amount: Double, to client: ClientKey) {
        var line = lines[client] ?? Line(served: level)
        line.served = min(max(line.served, level) + amount, level + longestDebt)
        lines[client] = line
        forgetIfLevel(client)
        // With this many clients, those without waiting elements are forgotten.
        if lines.count > Self.capacity { lines = lines.filter { $0.value.elements.count > 0 } }
    }

    /// Removes all elements, in any order.
    mutating func removeAll() -> [Element] {
        defer { (lines, clients) = ([:], [:]) }
        return lines.keys.flatMap { lines[$0]?.elements.removeAll() ?? [] }
    }

    /// Forgets a client without waiting elements that has no lead: it equals a new one.
    private mutating func forgetIfLevel(_ client: ClientKey) {
        if let line = lines[client], line.elements.count == 0, line.served <= level { lines[client] = nil }
    }
}
