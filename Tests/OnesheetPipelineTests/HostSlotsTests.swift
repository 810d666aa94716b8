import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

final class HostSlotsTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var slots = HostSlots(limit: 2, queue: 3, clock: clock.wallClock)

    func testThatAHostGetsSoManyRequestsAtATimeAndNoMore() async throws {
        // Given a host with both slots held by hanging work
        let (slots, gate, host) = (slots, Gate(), try host("http://slow.example/"))
        let hanging = (0..<5).map { _ in Task { try await slots.with(host) { _ in try await gate.pass() } } }
        await gate.hasBeenReached(by: 2)
        // When another host is requested
        let answer = try await slots.with(try self.host("http://good.example/")) { _ in "good" }
        // Then it does not wait, and the slow one has only two running requests
        XCTAssertEqual(answer, "good")
        XCTAssertEqual(gate.arrived, 2)
        gate.open()
        for task in hanging { try await task.value }
        XCTAssertEqual(gate.arrived, 5)
        XCTAssertEqual(slots.load(of: host), 0)
    }

    func testThatWhoLeavesTheLineGivesNobodysPlaceAway() async throws {
        // Given a full host with a waiting request
        let (slots, gate, host) = (slots, Gate(), try host("http://slow.example/"))
        let hanging = (0..<2).map { _ in Task { try await slots.with(host) { _ in try await gate.pass() } } }
        await gate.hasBeenReached(by: 2)
        let waiting = Task { try await slots.with(host) { _ in XCTFail("it was cancelled") } }
        await waitWhile(slots.load(of: host) < 3)
        // When the waiting one leaves, and a running one too
        waiting.cancel()
        hanging[0].cancel()
        // Then both leave, and the rest continue
        await assertCancelled(waiting)
        await assertCancelled(hanging[0])
        let next = try await slots.with(host) { _ in "next" }
        XCTAssertEqual(next, "next")
        gate.open()
        try await hanging[1].value
        XCTAssertEqual(slots.load(of: host), 0)
    }

    func testThatOneMoreThanMayWaitIsRefusedAtOnceAndToldWhenToComeBack() async throws {
        // Given a host with two running requests and a full queue
        let (slots, gate, host) = (slots, Gate(), try host("http://slow.example/"))
        let tasks = (0..<5).map { _ in Task { try await slots.with(host) { _ in try await gate.pass() } } }
        await waitWhile(slots.load(of: host) < 5)
        // When one more comes, before any duration is known
        await assertFull(retryAfter: 2, host)
        XCTAssertEqual(slots.load(of: host), 5)
        // Then it is refused, and requests to other hosts are not
        let other = try await slots.with(try self.host("http://good.example/")) { _ in "good" }
        XCTAssertEqual(other, "good")
        for task in tasks { task.cancel() }
        for task in tasks { await assertCancelled(task) }
        XCTAssertEqual(slots.load(of: host), 0)
    }

    func testThatTheTimeToComeBackFollowsFromHowLongRequestsTook() async throws {
        // Given a busy host that takes a minute for each request
        let (slots, host) = (slots, try host("http://slow.example/"))
        let held = Gate()
        let holding = Task { try await slots.with(host) { _ in try await held.pass() } }
        await held.hasBeenReached()
        for _ in 0..<40 { try await slots.with(host) { _ in clock.advance(by: .seconds(60)) } }
        // When its queue is full
        let tasks = (0..<4).map { _ in Task { try await slots.with(host) { _ in try await held.pass() } } }
        await waitWhile(slots.load(of: host) < 5)
        // Then the error names the time for four requests, two at a time
        await assertFull(retryAfter: 120, host)
        held.open()
        for task in tasks + [holding] { try await task.value }
    }

    func testThatWithoutALineNobodyWaits() async throws {
        let (slots, gate, host) = (HostSlots(limit: 1, queue: 0, clock: clock.wallClock), Gate(), try host("http://slow.example/"))
        let working = Task { try await slots.with(host) { _ in try await gate.pass() } }
        await gate.hasBeenReached()
        do {
            try await slots.with(host) { _ in XCTFail("it is in") }
            XCTFail("it was let wait")
        } catch {
            XCTAssertEqual(error as? HostSlots.Full, HostSlots.Full(retryAfter: 1))
        }
        gate.open()
        try await working.value
    }

    func testThatAClientIsServedInTurnAtAHostWhoseLineAnotherOneHasFilled() async throws {
        // Given a host whose places and line are full of one client's requests
        let (slots, host) = (slots, try host("http://slow.example/"))
        let order = Events()
        // The first request ends before all others, so that one place becomes free at a time.
        let (first, rest) = (Gate(), Gate())
        let greedy = MissPermit(for: ClientKey([1])) {}
        let tasks = (0..<5).map { _ in
            Task {
                do {
                    try await MissPermit.$current.withValue(greedy) {
                        try await slots.with(host) { _ in
                            let count = order.add("greedy")
                            try await (count == 1 ? first : rest).pass()
                        }
                    }
                } catch is HostSlots.Full {
                    order.add("refused")
                }
            }
        }
        await waitWhile(slots.load(of: host) < 5 || order.all.count < 2)
        // When another client comes
        let modest = Task {
            try await MissPermit.$current.withValue(MissPermit(for: ClientKey([2])) {}) {
                try await slots.with(host) { _ in _ = order.add("modest") }
            }
        }
        // Then one of the first client's requests makes way
        await waitWhile(order.all.count < 3)
        first.open()
        try await modest.value
        rest.open()
        for task in tasks { try await task.value }
        // And the other client is served before those of the first one that waited longer
        XCTAssertEqual(order.all, ["greedy", "greedy", "refused", "modest", "greedy", "greedy"])
    }

    func testThatRequestsThatHangKeepHalfOfThePlacesIfOthersWait() async throws {
        // Given a host with four slots, all held by requests without a response
        let (slots, host, places) = (
            HostSlots(limit: 4, queue: 8, clock: clock.wallClock), try host("http://slow.example/"), Places()
        )
        let gate = Gate()
        let hanging = (0..<4).map { _ in
            Task {
                try await slots.with(host) { place in
                    places.add(place)
                    try await gate.pass()
                }
            }
        }
        await gate.hasBeenReached(by: 4)
        // When no other request waits
        let alone = places.all.map { $0.mayStay(after: 60) }
        // Then all may continue
        XCTAssertEqual(alone, [true, true, true, true])
        // When another request waits
        let waiting = Task { try await slots.with(host) { _ in } }
        await waitWhile(slots.load(of: host) < 5)
        // Then two may continue, and the others only for the usual patience
        XCTAssertEqual(places.all.map { $0.mayStay(after: 1) }, [true, true, true, true])
        XCTAssertEqual(places.all.map { $0.mayStay(after: 3) }, [true, true, false, false])
        gate.open()
        for task in hanging { try await task.value }
        try await waiting.value
        XCTAssertEqual(slots.load(of: host), 0)
    }

    func testThatAHostThatIsSlowWithEverythingIsLetBeSlow() async throws {
        // Given a host that takes three seconds for each response
        let (slots, host) = (HostSlots(limit: 1, queue: 8, clock: clock.wallClock), try host("http://slow.example/"))
        for _ in 0..<3 {
            try await slots.with(host) { place in
                clock.advance(by: .seconds(3))
                place.answered()
            }
        }
        // When one takes as long, and another waits
        try await slots.with(host) { place in
            let waiting = Task { try await slots.with(host) { _ in } }
            await waitWhile(slots.load(of: host) < 2)
            // Then it may continue
            XCTAssertTrue(place.mayStay(after: 3))
            XCTAssertFalse(place.mayStay(after: 13))
            waiting.cancel()
            await assertCancelled(waiting)
        }
    }

    private func assertFull(retryAfter: Int, _ host: OriginHost, line: UInt = #line) async {
        do {
            try await slots.with(host) { _ in XCTFail("it is in", line: line) }
            XCTFail("it was let wait", line: line)
        } catch {
            XCTAssertEqual(error as? HostSlots.Full, HostSlots.Full(retryAfter: retryAfter), line: line)
        }
    }

    private func assertCancelled(_ task: Task<Void, any Error>) async {
        do {
            try await task.value
            XCTFail("it was not cancelled")
        } catch {
            XCTAssertTrue(error is CancellationError, "\(error)")
        }
    }

    private func host(_ url: String) throws -> OriginHost { OriginHost(try XCTUnwrap(WebURL(url))) }
}

private final class Places: Sendable {
    private let places = Mutex<[HostSlots.Place]>([])
    var all: [HostSlots.Place] { places.withLock { $0 } }
    func add(_ place: HostSlots.Place) { places.withLock { $0.append(place) } }
}

/// What happened, in order.
private final class Events: Sendable {
    private let names = Mutex<[String]>([])

    var all: [String] { names.withLock { $0 } }

    /// - Returns: how many events there are now.
    @discardableResult
    func add(_ name: String) -> Int {
        names.withLock { names in
            names.append(name)
            return names.count
        }
    }
}
