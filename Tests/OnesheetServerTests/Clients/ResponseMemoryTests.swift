import NIOCore
import NIOEmbedded
import OnesheetCore
import Synchronization
import XCTest

@testable import OnesheetServer

final class ResponseMemoryTests: XCTestCase {
    private let memory = ResponseMemory(limit: 1 << 20)

    func testThatABodyThatManyAreSentCountsOnce() throws {
        // Given a body of half the budget
        let body = body(512 << 10)
        // When three hold it, one of them a part of it
        let holds = [memory.admit(body, isInTier: false), memory.admit(body, isInTier: false)]
        let part = memory.hold(try XCTUnwrap(body.getSlice(at: 100, length: 10)))
        // Then it is counted once, until the last one releases it
        XCTAssertFalse(holds.contains { $0 == nil })
        XCTAssertEqual(memory.held, body.storageCapacity)
        withExtendedLifetime(holds) {}
        XCTAssertNotNil(part)
    }

    func testThatWhatIsLetGoOfMakesRoom() {
        var first = memory.admit(body(900 << 10), isInTier: false)
        XCTAssertNotNil(first)
        XCTAssertNil(memory.admit(body(900 << 10), isInTier: false))
        first = nil
        XCTAssertEqual(memory.held, 0)
        XCTAssertNotNil(memory.admit(body(900 << 10), isInTier: false))
    }

    func testThatMemorysOwnAndShortOnesGoOn() {
        // Given no room
        let first = memory.admit(body(1 << 20), isInTier: false)
        // When others come, then a short body and an existing one continue, and a long one does not
        let short = memory.admit(body(32 << 10), isInTier: false)
        let hit = memory.admit(body(600 << 10), isInTier: true)
        XCTAssertNotNil(short)
        XCTAssertNotNil(hit)
        XCTAssertNil(memory.admit(body(128 << 10), isInTier: false))
        XCTAssertFalse(memory.makeRoom())
        // And short ones are limited too
        var more: [BodyHold] = []
        for _ in 0..<100 { if let hold = memory.admit(body(60 << 10), isInTier: false) { more.append(hold) } }
        XCTAssertLessThan(more.count, 10)
        withExtendedLifetime((first, short, hit)) {}
    }

    func testThatAnAddressLeavesRoomForOthers() throws {
        // Given an address that takes all that it can get
        let (greedy, honest) = (try address("192.0.2.1"), try address("192.0.2.2"))
        var holds: [BodyHold] = []
        for _ in 0..<100 { if let hold = memory.admit(body(100 << 10), isInTier: false, for: greedy) { holds.append(hold) } }
        // Then it has about half of the room, and may not begin another miss
        XCTAssertGreaterThan(holds.count, 2)
        XCTAssertLessThan(memory.held, memory.limit * 2 / 3)
        XCTAssertFalse(memory.makeRoom(for: greedy))
        // And another address gets its body
        XCTAssertTrue(memory.makeRoom(for: honest))
        XCTAssertNotNil(memory.admit(body(100 << 10), isInTier: false, for: honest))
        // And the first one continues when it has received its bodies
        holds = []
        XCTAssertEqual(memory.held, 0)
        XCTAssertTrue(memory.makeRoom(for: greedy))
    }

    func testThatHalfAsMuchAgainIsKeptForAddressesWithoutBodies() throws {
        // Given no room
        let all = memory.admit(body(1 << 20), isInTier: false)
        // When two addresses ask, one of which has a body
        let (first, second) = (try address("192.0.2.1"), try address("192.0.2.2"))
        let hold = memory.admit(body(100 << 10), isInTier: false, for: first)
        // Then only the one without may have one
        XCTAssertNotNil(hold)
        XCTAssertFalse(memory.makeRoom(for: first))
        XCTAssertNil(memory.admit(body(100 << 10), isInTier: false, for: first))
        XCTAssertTrue(memory.makeRoom(for: second))
        XCTAssertNil(memory.admit(body(300 << 10), isInTier: false, for: second))
        // And short ones of addresses that have others leave that room
        var short: [BodyHold] = []
        for _ in 0..<100 { if let hold = memory.admit(body(60 << 10), isInTier: false, for: first) { short.append(hold) } }
        XCTAssertNotNil(memory.admit(body(100 << 10), isInTier: false, for: second))
        withExtendedLifetime((all, hold, short)) {}
    }

    func testThatUnreadResponsesOfOthersDoNotRefuseANewAddress() throws {
        // Given an address with a body, and twice as much as there is room for in bodies that cannot be refused
        let (busy, honest) = (try address("192.0.2.1"), try address("192.0.2.2"))
        let own = memory.admit(body(100 << 10), isInTier: false, for: busy)
        let unread = memory.hold(body(2 << 20))
        // When another address wants to begin, then it may, and the first one and an unknown one may not
        XCTAssertTrue(memory.makeRoom(for: honest))
        XCTAssertFalse(memory.makeRoom(for: busy))
        XCTAssertFalse(memory.makeRoom())
        withExtendedLifetime((own, unread)) {}
    }

    func testThatTheSlowestIsLetGoOfWhenThereIsNoRoom() throws {
        // Given two clients that receive bodies, one of which has waited for long
        let channels = [EmbeddedChannel(), EmbeddedChannel()]
        for channel in channels { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait() }
        let receivers = channels.map { BodyReceiver($0, memory) }
        let bodies = [body(600 << 10), body(600 << 10)]
        let holds = bodies.map(memory.hold)
        for (receiver, body) in zip(receivers, bodies) { receiver.wrote(body) }
        // When room is needed before they are slow
        memory.drop(1, at: .now())
        XCTAssertTrue(channels.allSatisfy(\.isActive))
        // And when they are slow, and one has read something meanwhile
        let later = NIODeadline.now() + ResponseMemory.stallTimeout
        while NIODeadline.now() <= receivers[0].waitingSince {}
        receivers[1].wrote(body(1))
        receivers[1].finished()
        memory.drop(1, at: later)
        // Then the other one is disconnected
        XCTAssertFalse(channels[0].isActive)
        XCTAssertTrue(channels[1].isActive)
        XCTAssertEqual(memory.droppedClients, 1)
        withExtendedLifetime(holds) {}
    }

    func testThatTheAddressWithTheMostIsLetGoOfFirst() throws {
        // Given a client that has waited longest, and an address whose two clients are sent more together
        let (patient, greedy) = (try address("192.0.2.1"), try address("192.0.2.2"))
        let closed = Mutex<[String]>([])
        let clients = [("patient", patient, 500 << 10), ("first", greedy, 400 << 10), ("second", greedy, 400 << 10)]
        let receivers = clients.map { name, owner, _ in
            BodyReceiver(memory) {
                owner
            } close: {
                closed.withLock { $0.append(name) }
            }
        }
        let bodies = clients.map { body($0.2) }
        for (receiver, body) in zip(receivers, bodies) {
            receiver.wrote(body)
            while NIODeadline.now() <= receiver.waitingSince {}
        }
        // When room is needed, then that address makes it, beginning with its slowest
        memory.drop(1, at: .now() + ResponseMemory.stallTimeout)
        XCTAssertEqual(closed.withLock { $0 }, ["first"])
        // And if that is not enough, the others do too
        memory.drop(3 << 20, at: .now() + ResponseMemory.stallTimeout * 2)
        XCTAssertEqual(closed.withLock { $0 }, ["first", "first", "second", "patient"])
        withExtendedLifetime(bodies) {}
    }

    func testThatTheClientsOfOneBodyAreLetGoOfTogether() throws {
        // Given a body that three clients do not take, and another one
        let closed = Mutex<[Int]>([])
        let receivers = (0..<4).map { number in
            BodyReceiver(memory) {
                nil
            } close: {
                closed.withLock { $0.append(number) }
            }
        }
        let (shared, other) = (body(600 << 10), body(600 << 10))
        for receiver in receivers.prefix(3) { receiver.wrote(shared) }
        while NIODeadline.now() <= receivers[2].waitingSince {}
        receivers[3].wrote(other)
        // When room for a byte is needed, then only these three are disconnected, because their body stays until the last one is gone
        memory.drop(1, at: .now() + ResponseMemory.stallTimeout)
        XCTAssertEqual(closed.withLock { $0.sorted() }, [0, 1, 2])
        XCTAssertEqual(memory.droppedClients, 3)
        withExtendedLifetime((shared, other)) {}
    }

    private func address(_ text: String) throws -> ClientAddress { ClientAddress(try XCTUnwrap(IPAddress(text))) }

    private func body(_ length: Int) -> ByteBuffer { ByteBuffer(repeating: 1, count: length) }
}
