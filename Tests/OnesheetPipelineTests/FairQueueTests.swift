import OnesheetCore
import Synchronization
import XCTest

@testable import OnesheetPipeline

final class FairQueueTests: XCTestCase {
    private let (greedy, modest) = (ClientKey([1]), ClientKey([2]))

    func testThatClientsTakeTurnsHoweverManyElementsTheyHave() {
        // Given a client with three that wait, and then one with two
        var queue = FairQueue<String>(longestDebt: 100)
        for (ticket, name) in [(1, "g1"), (2, "g2"), (3, "g3")] as [(UInt64, String)] { queue.append(ticket, name, for: greedy) }
        for (ticket, name) in [(4, "m1"), (5, "m2")] as [(UInt64, String)] { queue.append(ticket, name, for: modest) }
        // When each is served alike, then they take turns
        XCTAssertEqual(served(&queue, cost: 1), ["g1", "m1", "g2", "m2", "g3"])
        XCTAssertEqual(queue.count, 0)
    }

    func testThatTheClientThatTookLeastIsNext() {
        // Given a client that was served ten times as much as another
        var queue = FairQueue<String>(longestDebt: 100)
        for ticket in 1...3 as ClosedRange<UInt64> { queue.append(ticket, "g\(ticket)", for: greedy) }
        XCTAssertEqual(queue.removeFirst()?.element, "g1")
        queue.charge(10, to: greedy)
        for ticket in 11...15 as ClosedRange<UInt64> { queue.append(ticket, "m\(ticket)", for: modest) }
        // When the other one's elements cost one each, then it goes before until it was served as much
        XCTAssertEqual(served(&queue, cost: 1), ["m11", "m12", "m13", "m14", "m15", "g2", "g3"])
    }

    func testThatNobodySavesUpTurns() {
        // Given a client that was served for long while another one was away
        var queue = FairQueue<String>(longestDebt: 1000)
        for _ in 0..<50 { queue.serve(10, to: greedy) }
        // When both come, then the one that was away is not ahead by more than the last turn
        for ticket in 1...4 as ClosedRange<UInt64> { queue.append(ticket, "m\(ticket)", for: modest) }
        for ticket in 11...12 as ClosedRange<UInt64> { queue.append(ticket, "g\(ticket)", for: greedy) }
        XCTAssertEqual(served(&queue, cost: 10), ["m1", "m2", "g11", "m3", "g12", "m4"])
    }

    func testThatADebtEnds() {
        // Given a client that was served far more than it may ever owe
        var queue = FairQueue<String>(longestDebt: 5)
        queue.charge(1_000_000, to: greedy)
        queue.append(1, "g", for: greedy)
        for ticket in 11...17 as ClosedRange<UInt64> { queue.append(ticket, "m", for: modest) }
        // Then its turn comes once the others were served that much
        XCTAssertEqual(served(&queue, cost: 1), ["m", "m", "m", "m", "m", "g", "m", "m"])
    }

    func testThatANewcomerTakesThePlaceOfTheClientWithTheMost() {
        // Given a queue in which one client has three elements
        var queue = FairQueue<String>(longestDebt: 100)
        for ticket in 1...3 as ClosedRange<UInt64> { queue.append(ticket, "g\(ticket)", for: greedy) }
        // When another comes, then the last of the three makes way, and never for one who would have as many
        XCTAssertTrue(queue.canDisplace(for: modest))
        XCTAssertEqual(queue.displace(for: modest)?.element, "g3")
        queue.append(4, "m", for: modest)
        XCTAssertFalse(queue.canDisplace(for: modest))
        XCTAssertNil(queue.displace(for: modest))
        XCTAssertNil(queue.displace(for: greedy))
    }

    func testElementOfTwoTakesTheEarlierTurn() {
        // Given a client with four that wait, the last of which another client waits for too
        var queue = FairQueue<String>(longestDebt: 100)
        for ticket in 1...4 as ClosedRange<UInt64> { queue.append(ticket, "g\(ticket)", for: greedy) }
        queue.lend(4, to: modest)
        queue.append(5, "m", for: modest)
        XCTAssertEqual(queue.count, 5)
        // When all are served, then it comes in the turn of the other client, once, and costs that client its turn
        XCTAssertEqual(served(&queue, cost: 1), ["g1", "g4", "g2", "m", "g3"])
        XCTAssertEqual(queue.count, 0)
    }

    func testElementOfTwoIsRemovedFromBoth() {
        var queue = FairQueue<String>(longestDebt: 100)
        queue.append(1, "both", for: greedy)
        queue.lend(1, to: modest)
        queue.append(2, "m", for: modest)
        XCTAssertEqual(queue.remove(1)?.element, "both")
        XCTAssertEqual([greedy, modest].map(queue.count(of:)), [0, 1])
        queue.lend(1, to: modest)
        queue.append(3, "again", for: greedy)
        queue.lend(3, to: modest)
        XCTAssertEqual(queue.removeAll().sorted(), ["again", "m"])
        XCTAssertEqual([greedy, modest].map(queue.count(of:)), [0, 0])
    }

    func testElementStaysForTheOneWhoHasFew() {
        // Given a client with three, the last of which another client needs
        var queue = FairQueue<String>(longestDebt: 100)
        for ticket in 1...3 as ClosedRange<UInt64> { queue.append(ticket, "g\(ticket)", for: greedy) }
        queue.lend(3, to: modest)
        // When a third one comes, then the second makes way
        XCTAssertEqual(queue.displace(for: ClientKey([3]))?.element, "g2")
        // And when both clients have three of the same, one of them makes way all the same
        queue.append(4, "g4", for: greedy)
        queue.lend(1, to: modest)
        queue.lend(4, to: modest)
        XCTAssertEqual(queue.displace(for: ClientKey([3]))?.element, "g4")
        XCTAssertEqual([greedy, modest].map(queue.count(of:)), [2, 2])
    }

    func testFurtherClientTakesThePlaceOfTheSlowest() {
        // Given an element of as many clients as it may have, each of which has two more before it
        var queue = FairQueue<String>(longestDebt: 100)
        let clients = (0..<FlightClients.most).map { ClientKey([UInt8(100 + $0)]) }
        for (number, client) in clients.enumerated() {
            for ticket in [2 * number, 2 * number + 1] { queue.append(UInt64(ticket), "own", for: client) }
        }
        queue.append(200, "shared", for: clients[0])
        for client in clients.dropFirst() { queue.lend(200, to: client) }
        // When one more waits for it, with nothing before it
        queue.lend(200, to: modest)
        // Then it comes in that client's first turn
        XCTAssertEqual([clients[0], modest].map(queue.count(of:)), [3, 1])
        XCTAssertEqual(served(&queue, cost: 1).firstIndex(of: "shared"), FlightClients.most)
        XCTAssertEqual(queue.count, 0)
    }

    func testFurtherClientOfAPieceOfWorkCounts() {
        // Given work of as many clients as it may have, and a queue that hears of them
        let clients = FlightClients((0..<FlightClients.most).map { ClientKey([UInt8(100 + $0)]) })
        let heard = Mutex<[ClientKey]>([])
        let listener = clients.listen { client in heard.withLock { $0.append(client) } }
        // When another one joins, twice
        for _ in 0..<2 { clients.join(modest) }
        clients.ignore(listener)
        // Then the queue hears of it once, and so do later ones, in the place of another than the first
        XCTAssertEqual(heard.withLock { $0 }.filter { $0 == modest }.count, 1)
        XCTAssertEqual(clients.all.count, FlightClients.most)
        XCTAssertTrue(clients.all.contains(modest))
        XCTAssertEqual(clients.first, ClientKey([100]))
    }

    func testAnotherLongLineMakesWayIfTheLongestIsShared() {
        // Given a client with four that others need, and one with three of its own
        var queue = FairQueue<String>(longestDebt: 100)
        for ticket in 1...4 as ClosedRange<UInt64> {
            queue.append(ticket, "s\(ticket)", for: greedy)
            queue.lend(ticket, to: ClientKey([UInt8(10 + ticket)]))
        }
        for ticket in 5...7 as ClosedRange<UInt64> { queue.append(ticket, "m\(ticket)", for: modest) }
        // When a newcomer comes, then the last of the three makes way
        XCTAssertEqual(queue.displace(for: ClientKey([3]))?.element, "m7")
    }

    func testThatTheNextOfAKindIsFoundBehindOthers() {
        // Given two clients, each with two of one kind before one of another
        var queue = FairQueue<String>(longestDebt: 100)
        for (ticket, name) in [(1, "g long"), (2, "g short"), (3, "g long")] as [(UInt64, String)] {
            queue.append(ticket, name, for: greedy)
        }
        for (ticket, name) in [(4, "m long"), (5, "m short")] as [(UInt64, String)] { queue.append(ticket, name, for: modest) }
        // When those of the other kind are taken out, then in the order of their clients
        queue.charge(1, to: greedy)
        XCTAssertEqual(queue.removeFirst { $0.hasSuffix("short") }?.element, "m short")
        XCTAssertEqual(queue.removeFirst { $0.hasSuffix("short") }?.element, "g short")
        XCTAssertNil(queue.removeFirst { $0.hasSuffix("short") })
        // And the others keep theirs
        XCTAssertEqual(served(&queue, cost: 1), ["m long", "g long", "g long"])
    }

    func testThatWhoLeftIsForgotten() {
        var queue = FairQueue<Int>(longestDebt: 1e9)
        let clients = (0..<5000 as Range<UInt64>).map { ($0, ClientKey(withUnsafeBytes(of: $0) { Array($0) })) }
        for (ticket, client) in clients {
            queue.append(ticket, 1, for: client)
            if ticket % 2 == 0 { XCTAssertEqual(queue.remove(ticket)?.element, 1) } else { XCTAssertNotNil(queue.removeFirst()) }
            queue.charge(5, to: client)
        }
        // Each that is still known was served more than a new one.
        let known = clients.count { queue.debt(of: $0.1) > 0 }
        XCTAssertGreaterThan(known, 0)
        XCTAssertLessThanOrEqual(known, 513)
        XCTAssertEqual(queue.count, 0)
    }

    private func served(_ queue: inout FairQueue<String>, cost: Double) -> [String] {
        var names: [String] = []
        while let next = queue.removeFirst() {
            names.append(next.element)
            queue.charge(cost, to: next.client)
        }
        return names
    }
}
