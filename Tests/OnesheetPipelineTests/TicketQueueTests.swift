import XCTest

@testable import OnesheetPipeline

final class TicketQueueTests: XCTestCase {
    func testThatTheOrderIsThatInWhichTheyCameWithoutThoseWhoLeft() {
        var queue = TicketQueue<String>()
        for (ticket, name) in [(1, "a"), (2, "b"), (3, "c"), (4, "d")] as [(UInt64, String)] { queue.append(ticket, name) }
        XCTAssertEqual(queue.remove(1), "a")
        XCTAssertEqual(queue.remove(3), "c")
        XCTAssertNil(queue.remove(3))
        XCTAssertEqual(queue.removeFirst()?.element, "b")
        XCTAssertEqual(queue.count, 1)
        XCTAssertEqual(queue.removeAll(), ["d"])
        XCTAssertNil(queue.removeFirst())
    }

    func testThatThoseWhoComeAndLeaveTakeNoMemory() {
        // Given an element that waits for ever
        var queue = TicketQueue<Int>()
        queue.append(0, 0)
        // When a hundred thousand join and leave behind it
        for ticket in 1...100_000 as ClosedRange<UInt64> {
            queue.append(ticket, 1)
            XCTAssertEqual(queue.remove(ticket), 1)
            // Then there are never more than a few slots
            XCTAssertLessThan(queue.places, 32)
        }
        // And the element is present
        XCTAssertEqual(queue.removeAll(), [0])
    }

    func testThatTheFirstOfAKindIsFound() {
        var queue = TicketQueue<String>()
        for (ticket, name) in [(1, "a"), (2, "b"), (3, "a"), (4, "b")] as [(UInt64, String)] { queue.append(ticket, name) }
        XCTAssertEqual(queue.firstTicket { $0 == "b" }, 2)
        XCTAssertEqual(queue.remove(2), "b")
        XCTAssertEqual(queue.firstTicket { $0 == "b" }, 4)
        XCTAssertEqual(queue.remove(1), "a")
        XCTAssertEqual(queue.firstTicket, 3)
        XCTAssertNil(queue.firstTicket { $0 == "c" })
    }

    func testThatManyWhoLeaveInAnyOrderLeaveTheOthersInTheirs() {
        var queue = TicketQueue<UInt64>()
        for ticket in 0..<10_000 as Range<UInt64> { queue.append(ticket, ticket) }
        for ticket in 0..<10_000 as Range<UInt64> where ticket % 3 != 0 { XCTAssertEqual(queue.remove(ticket), ticket) }
        XCTAssertEqual(queue.removeAll(), (0..<10_000).filter { $0 % 3 == 0 })
    }
}
