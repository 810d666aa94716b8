import OnesheetCore

/// A queue that serves clients in turns: the next element belongs to the client that was served least (start-time fair queueing, Goyal,
/// Vin and Cheng 1996). A client with many elements delays no other client.
///
/// Clients cannot save up turns. A client that returns starts level with the client that was served last.
///
/// Several clients may wait for one element (`lend`). It is in the line of each, and the first turn of them counts.
struct FairQueue<Element: Sendable>: Sendable {
    /// An element that was removed.
    struct Removed {
        let ticket: UInt64
        let element: Element
        /// The client whose turn it was.
        let client: ClientKey
        /// All clients that waited for it. The first one brought it.
        let holders: [ClientKey]

        /// The client that brought it.
        var owner: ClientKey { holders.first ?? client }
    }

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
    /// The clients that wait for each element. The first one brought it.
    private var holders: [UInt64: [ClientKey]] = [:]
    /// The service that the last served client had received before.
    private var level = 0.0

    /// - Parameter longestDebt: in the unit of `charge`.
    init(longestDebt: Double) { self.longestDebt = longestDebt }

    var count: Int { holders.count }

    /// The number of waiting elements of `client`.
    func count(of client: ClientKey) -> Int { lines[client]?.elements.count ?? 0 }

    /// The one of `clients` with the fewest waiting elements.
    func least(of clients: [ClientKey]) -> ClientKey { clients.min { count(of: $0) < count(of: $1) } ?? .anonymous }

    /// The lead of `client` over the client that was served last.
    func debt(of client: ClientKey) -> Double { max(0, (lines[client]?.served ?? 0) - level) }

    /// - Parameter ticket: a unique ticket.
    mutating func append(_ ticket: UInt64, _ element: Element, for client: ClientKey) {
        holders[ticket] = []
        add(ticket, element, for: client)
    }

    /// Puts an element back that was removed.
    mutating func putBack(_ removed: Removed) {
        append(removed.ticket, removed.element, for: removed.owner)
        for client in removed.holders.dropFirst() { lend(removed.ticket, to: client) }
    }

    /// Adds `client` to those that wait for the element of `ticket`. If the element has as many clients as it may have, it leaves the slowest of
    /// their lines, but never that of the client that brought it.
    mutating func lend(_ ticket: UInt64, to client: ClientKey) {
        guard let holders = holders[ticket], !holders.contains(client), let owner = holders.first,
            let element = lines[owner]?.elements.element(of: ticket)
        else { return }
        if holders.count >= FlightClients.most {
            guard let slowest = holders.dropFirst().max(by: { rank(of: $0) < rank(of: $1) }),
                (count(of: client) + 1, debt(of: client)) < rank(of: slowest)
            else { return }
            _ = lines[slowest]?.elements.remove(ticket)
            self.holders[ticket]?.removeAll { $0 == slowest }
            forgetIfLevel(slowest)
        }
        add(ticket, element, for: client)
    }

    /// How long an element in the line of `client` waits, compared with other lines.
    private func rank(of client: ClientKey) -> (Int, Double) { (count(of: client), debt(of: client)) }

    private mutating func add(_ ticket: UInt64, _ element: Element, for client: ClientKey) {
        var line = lines[client] ?? Line(served: level)
        line.served = max(line.served, level)
        line.elements.append(ticket, element)
        lines[client] = line
        holders[ticket]?.append(client)
    }

    /// Removes the element of `ticket`, if it is waiting.
    /// - Parameter turn: the client whose turn it is; `nil` is the one that brought it.
    mutating func remove(_ ticket: UInt64, for turn: ClientKey? = nil) -> Removed? {
        guard let holders = holders.removeValue(forKey: ticket), let owner = holders.first else { return nil }
        var element: Element?
        for client in holders {
            element = lines[client]?.elements.remove(ticket) ?? element
            forgetIfLevel(client)
        }
        return element.map { Removed(ticket: ticket, element: $0, client: turn ?? owner, holders: holders) }
    }

    /// Removes the next element. Among clients with equal service, the element that waits longest is next.
    mutating func removeFirst() -> Removed? {
        remove { $0.elements.firstTicket }
    }

    /// Removes the next element that satisfies `condition`. Looks at all elements before it, so it is for short queues.
    mutating func removeFirst(where condition: (Element) -> Bool) -> Removed? {
        remove { $0.elements.firstTicket(where: condition) }
    }

    /// - Parameter ticket: that of the element of a client that may be next.
    private mutating func remove(next ticket: (Line) -> UInt64?) -> Removed? {
        var next: (client: ClientKey, served: Double, ticket: UInt64)?
        for (client, line) in lines {
            guard let ticket = ticket(line) else { continue }
            if let known = next, (known.served, known.ticket) < (line.served, ticket) { continue }
            next = (client, line.served, ticket)
        }
        guard let next else { return nil }
        level = max(level, next.served)
        return remove(next.ticket, for: next.client)
    }

    /// Removes the last element of the client with the most elements, if that client has more than `client` would have with another one.
    /// An element of several clients stays as long as one of them has no more.
    mutating func displace(for client: ClientKey) -> Removed? { displaceable(for: client).flatMap { remove($0) } }

    /// Whether `displace(for:)` would remove an element.
    func canDisplace(for client: ClientKey) -> Bool { displaceable(for: client) != nil }

    private func displaceable(for client: ClientKey) -> UInt64? {
        let most = count(of: client) + 1
        func last(of line: Line) -> UInt64? {
            line.elements.lastTicket { ticket in holders[ticket]?.allSatisfy { $0 != client && count(of: $0) > most } ?? false }
        }
        guard let longest = lines.values.max(by: { $0.elements.count < $1.elements.count }) else { return nil }
        if let ticket = last(of: longest) { return ticket }
        // Clients with few elements share all of those.
        let others = lines.values.filter { $0.elements.count > most }.sorted { $0.elements.count > $1.elements.count }
        return others.lazy.compactMap(last).first
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
        defer { (lines, holders) = ([:], [:]) }
        return holders.compactMap { ticket, clients in clients.first.flatMap { lines[$0]?.elements.element(of: ticket) } }
    }

    /// Forgets a client without waiting elements that has no lead: it equals a new one.
    private mutating func forgetIfLevel(_ client: ClientKey) {
        if let line = lines[client], line.elements.count == 0, line.served <= level { lines[client] = nil }
    }
}
