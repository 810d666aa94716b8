import NIOCore
import NIOEmbedded
import OnesheetCore
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

    func testThatAQuarterMoreIsKeptForAddressesWithoutBodies() throws {
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
        withExtendedLifetime((all, hold)) {}
    }

    func testThatTheSlowestIsLetGoOfWhenThereIsNoRoom() throws {
        // Given two clients that receive bodies, one of which has waited for long
        let channels = [EmbeddedChannel(), EmbeddedChannel()]
        for channel in channels { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait() }
        let receivers = channels.map { BodyReceiver($0, memory) }
        let holds = [memory.hold(body(600 << 10)), memory.hold(body(600 << 10))]
        for receiver in receivers { receiver.wrote(600 << 10) }
        // When room is needed before they are slow
        memory.drop(1, at: .now())
        XCTAssertTrue(channels.allSatisfy(\.isActive))
        // And when they are slow, and one has read something meanwhile
        let later = NIODeadline.now() + ResponseMemory.stallTimeout
        while NIODeadline.now() <= receivers[0].waitingSince {}
        receivers[1].wrote(1)
        receivers[1].took()
        memory.drop(1, at: later)
        // Then the other one is disconnected
        XCTAssertFalse(channels[0].isActive)
        XCTAssertTrue(channels[1].isActive)
        XCTAssertEqual(memory.droppedClients, 1)
        withExtendedLifetime(holds) {}
    }

    private func address(_ text: String) throws -> ClientAddress { ClientAddress(try XCTUnwrap(IPAddress(text))) }

    private func body(_ length: Int) -> ByteBuffer { ByteBuffer(repeating: 1, count: length) }
}
