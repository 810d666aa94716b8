import FoundationEssentials
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

final class SlotsTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var slots = slots(2, waiting: 3)

    func testThatAHostGetsSoManyRequestsAtATimeAndNoMore() async throws {
        // Given a host with both slots held by hanging work
        let (slots, gate, host) = (slots, Gate(), try host("http://slow.example/"))
        let hanging = (0..<5).map { _ in Task { try await slots.with(host, within: .seconds(60)) { _ in try await gate.pass() } } }
        await gate.hasBeenReached(by: 2)
        // When another host is requested
        let answer = try await slots.with(try self.host("http://good.example/"), within: .seconds(60)) { _ in "good" }
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
        let hanging = (0..<2).map { _ in Task { try await slots.with(host, within: .seconds(60)) { _ in try await gate.pass() } } }
        await gate.hasBeenReached(by: 2)
        let waiting = Task { try await slots.with(host, within: .seconds(60)) { _ in XCTFail("it was cancelled") } }
        await waitWhile(slots.load(of: host) < 3)
        // When the waiting one leaves, and a running one too
        waiting.cancel()
        hanging[0].cancel()
        // Then both leave, and the rest continue
        await assertCancelled(waiting)
        await assertCancelled(hanging[0])
        let next = try await slots.with(host, within: .seconds(60)) { _ in "next" }
        XCTAssertEqual(next, "next")
        gate.open()
        try await hanging[1].value
        XCTAssertEqual(slots.load(of: host), 0)
    }

    func testThatOneMoreThanMayWaitIsRefusedAtOnceAndToldWhenToComeBack() async throws {
        // Given a host with two running requests and a full queue
        let (slots, gate, host) = (slots, Gate(), try host("http://slow.example/"))
        let tasks = (0..<5).map { _ in Task { try await slots.with(host, within: .seconds(60)) { _ in try await gate.pass() } } }
        await waitWhile(slots.load(of: host) < 5)
        // When one more comes, before any duration is known
        await assertFull(retryAfter: 2, host)
        XCTAssertEqual(slots.load(of: host), 5)
        // Then it is refused, and requests to other hosts are not
        let other = try await slots.with(try self.host("http://good.example/"), within: .seconds(60)) { _ in "good" }
        XCTAssertEqual(other, "good")
        for task in tasks { task.cancel() }
        for task in tasks { await assertCancelled(task) }
        XCTAssertEqual(slots.load(of: host), 0)
    }

    func testThatTheTimeToComeBackFollowsFromHowLongRequestsTook() async throws {
        // Given a busy host that takes a minute for each request
        let (slots, host) = (slots, try host("http://slow.example/"))
        let held = Gate()
        let holding = Task { try await slots.with(host, within: .seconds(60)) { _ in try await held.pass() } }
        await held.hasBeenReached()
        for _ in 0..<40 { try await slots.with(host, within: .seconds(60)) { _ in clock.advance(by: .seconds(60)) } }
        // When its queue is full
        let tasks = (0..<4).map { _ in Task { try await slots.with(host, within: .seconds(60)) { _ in try await held.pass() } } }
        await waitWhile(slots.load(of: host) < 5)
        // Then the error names the time for four requests, two at a time
        await assertFull(retryAfter: 120, host)
        held.open()
        for task in tasks + [holding] { try await task.value }
    }

    func testThatWithoutALineNobodyWaits() async throws {
        let (slots, gate, host) = (slots(1, waiting: 0), Gate(), try host("http://slow.example/"))
        let working = Task { try await slots.with(host, within: .seconds(60)) { _ in try await gate.pass() } }
        await gate.hasBeenReached()
        do {
            try await slots.with(host, within: .seconds(60)) { _ in XCTFail("it is in") }
            XCTFail("it was let wait")
        } catch {
            XCTAssertEqual(error as? NoPlace, .full(retryAfter: 1))
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
        let greedy = FlightClients([ClientKey([1])])
        let tasks = (0..<5).map { _ in
            Task {
                do {
                    try await WorkContext.with({ $0.clients = greedy }) {
                        try await slots.with(host, within: .seconds(60)) { _ in
                            let count = order.add("greedy")
                            try await (count == 1 ? first : rest).pass()
                        }
                    }
                } catch NoPlace.full {
                    order.add("refused")
                }
            }
        }
        await waitWhile(slots.load(of: host) < 5 || order.all.count < 2)
        // When another client comes
        let modest = Task {
            try await WorkContext.with({ $0.clients = FlightClients([ClientKey([2])]) }) {
                try await slots.with(host, within: .seconds(60)) { _ in _ = order.add("modest") }
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

    func testWhoJoinsAFlightLendsItItsTurn() async throws {
        // Given a busy host, and a line of one client's requests, the last of them for two flights within each other
        let (slots, host, order, gate) = (slots(1, waiting: 8), try host("http://slow.example/"), Events(), Gate())
        let joined = Gate()
        let inner = Coalescing<String, Int, NoPlace>(
            cancelled: .cancelled, onJoin: { _, waiters in if waiters == 2 { joined.open() } })
        let outer = Coalescing<String, Int, NoPlace>(cancelled: .cancelled)
        let fetch = { @Sendable (name: String) async throws(NoPlace) -> Int in
            try await inner.share(name) { () async throws(NoPlace) in
                let place = try await slots.enter(host, within: .seconds(60))
                defer { place.leave() }
                return order.add(name)
            }
        }
        let ask = { @Sendable (client: UInt8, name: String, size: String) in
            Task {
                try await WorkContext.with({ $0.clients = FlightClients([ClientKey([client])]) }) {
                    try await outer.share(name + size) { () async throws(NoPlace) in try await fetch(name) }
                }
            }
        }
        let working = Task { try await slots.with(host, within: .seconds(60)) { _ in try await gate.pass() } }
        await gate.hasBeenReached()
        var asked: [Task<Int, any Error>] = []
        for (number, name) in ["a", "b", "c", "shared"].enumerated() {
            asked.append(ask(1, name, "small"))
            await waitWhile(slots.load(of: host) < 2 + number)
        }
        // When another client asks for the same in another size, and the place becomes free
        asked.append(ask(2, "shared", "large"))
        try await joined.pass()
        gate.open()
        _ = try await working.value
        for task in asked { _ = try await task.value }
        // Then it waits for one of the first one, as for a request of its own, and not for the others
        XCTAssertEqual(order.all, ["a", "shared", "b", "c"])
    }

    func testHungWorkGivesOthersPlacesBesideIt() async throws {
        // Given a host with two places, both held by requests that hang, and four that wait
        let (slots, host, places, gate) = (slots(2, waiting: 8, beside: 3), try host("http://slow.example/"), Places(), Gate())
        let tasks = (0..<6).map { _ in
            Task {
                try await slots.with(host, within: .seconds(60)) { place in
                    places.add(place)
                    try await gate.pass()
                }
            }
        }
        await waitWhile(places.all.count < 2 || slots.load(of: host) < 6)
        // When they had no byte for less than a second, then nothing changes
        XCTAssertEqual(places.all.map { $0.mayStay(after: 0.9) }, [true, true])
        XCTAssertEqual(places.all.count, 2)
        // When they had none for a second, then both stay and two others begin beside them
        XCTAssertEqual(places.all.map { $0.mayStay(after: 1) }, [true, true])
        await waitWhile(places.all.count < 4)
        // And when these hang, only one may stay beyond the patience, because three may hang
        XCTAssertEqual(places.all.map { $0.mayStay(after: 1) }, [true, true, true, true])
        await waitWhile(places.all.count < 5)
        XCTAssertEqual(places.all.prefix(4).map { $0.mayStay(after: 3) }, [true, true, true, false])
        // And one that continues takes a place again
        XCTAssertTrue(places.all[0].mayStay(after: 0))
        XCTAssertEqual(slots.load(of: host), 6)
        gate.open()
        for task in tasks { try await task.value }
        XCTAssertEqual(slots.load(of: host), 0)
    }

    func testHungWorkMayStayIfNobodyWaits() async throws {
        let (slots, host) = (slots(1, waiting: 8), try host("http://slow.example/"))
        try await slots.with(host, within: .seconds(60)) { place in XCTAssertTrue(place.mayStay(after: 60)) }
    }

    func testWaitHasAnEnd() async throws {
        // Given a place that is not left
        let (slots, gate, host) = (slots(1, waiting: 8), Gate(), try host("http://slow.example/"))
        let working = Task { try await slots.with(host, within: .seconds(60)) { _ in try await gate.pass() } }
        await gate.hasBeenReached()
        // When another one waits for it
        do {
            try await slots.with(host, within: .milliseconds(20)) { _ in XCTFail("it is in") }
            XCTFail("it waits for ever")
        } catch {
            // Then it is refused after its time
            XCTAssertEqual(error as? NoPlace, .full(retryAfter: 1))
        }
        XCTAssertEqual(slots.load(of: host), 1)
        gate.open()
        try await working.value
    }

    func testClientsTakeTurnsAtAPaceToo() async throws {
        // Given a lane with a pace, and a line of one client's requests
        let (slots, host, order) = (slots(.max, waiting: .max), try host("http://paced.example/"), Events())
        let enter = { @Sendable (client: UInt8, name: String) async throws in
            try await WorkContext.with({ $0.clients = FlightClients([ClientKey([client])]) }) {
                let place = try await slots.enter(host, every: 0.1, within: .seconds(60))
                order.add(name)
                place.leave()
            }
        }
        try await enter(1, "greedy")
        let greedy = (0..<6).map { _ in Task { try await enter(1, "greedy") } }
        await waitWhile(slots.load(of: host) < 6)
        // When another client comes, and three of the first one leave
        let modest = Task { try await enter(2, "modest") }
        await waitWhile(slots.load(of: host) < 7)
        for task in greedy.suffix(3) { task.cancel() }
        for task in greedy.suffix(3) { await assertCancelled(task) }
        // Then each tenth of a second is a turn, the first one is that of the other client, and who left takes none
        for count in 2...5 {
            XCTAssertEqual(order.all.count, count - 1)
            clock.advance(by: .milliseconds(101))
            await waitWhile(order.all.count < count)
        }
        for task in greedy.prefix(3) + [modest] { try await task.value }
        XCTAssertEqual(order.all, ["greedy", "modest", "greedy", "greedy", "greedy"])
        XCTAssertEqual(slots.load(of: host), 0)
    }

    func testTurnThatWouldComeTooLateIsRefusedAtOnce() async throws {
        // Given a lane with one start a minute
        let (slots, host) = (slots(.max, waiting: .max), try host("http://paced.example/"))
        try await slots.enter(host, every: 60, within: .seconds(10)).leave()
        // When another one comes, whose turn would come after its longest wait
        do throws(NoPlace) {
            try await slots.enter(host, every: 60, within: .seconds(10)).leave()
            XCTFail("it was let wait")
        } catch {
            // Then it is told when
            XCTAssertEqual(error, .full(retryAfter: 60))
        }
        // And after a minute it may begin
        clock.advance(by: .seconds(60))
        try await slots.enter(host, every: 60, within: .seconds(10)).leave()
    }

    func testThatAHostThatIsSlowWithEverythingIsLetBeSlow() async throws {
        // Given a host that takes three seconds for each response
        let (slots, host) = (slots(1, waiting: 8), try host("http://slow.example/"))
        for _ in 0..<3 {
            try await slots.with(host, within: .seconds(60)) { place in
                clock.advance(by: .seconds(3))
                place.answered()
            }
        }
        // When one takes as long, and another waits
        try await slots.with(host, within: .seconds(60)) { place in
            let waiting = Task { try await slots.with(host, within: .seconds(60)) { _ in } }
            await waitWhile(slots.load(of: host) < 2)
            // Then it may continue
            XCTAssertTrue(place.mayStay(after: 3))
            XCTAssertFalse(place.mayStay(after: 13))
            waiting.cancel()
            await assertCancelled(waiting)
        }
    }

    private func slots(_ places: Int, waiting: Int, beside: Int = 0) -> Slots<OriginHost> {
        Slots(
            SlotRules(places: places, waiting: .everybody(waiting), beside: beside),
            now: { [clock] in clock.now.timeIntervalSince1970 })
    }

    private func assertFull(retryAfter: Int, _ host: OriginHost, line: UInt = #line) async {
        do {
            try await slots.with(host, within: .seconds(60)) { _ in XCTFail("it is in", line: line) }
            XCTFail("it was let wait", line: line)
        } catch {
            XCTAssertEqual(error as? NoPlace, .full(retryAfter: retryAfter), line: line)
        }
    }

    private func assertCancelled(_ task: Task<Void, any Error>) async {
        do {
            try await task.value
            XCTFail("it was not cancelled")
        } catch {
            XCTAssertTrue(error is CancellationError || error as? NoPlace == .cancelled, "\(error)")
        }
    }

    private func host(_ url: String) throws -> OriginHost { OriginHost(try XCTUnwrap(WebURL(url))) }
}

private final class Places: Sendable {
    private let places = Mutex<[Slots<OriginHost>.Place]>([])
    var all: [Slots<OriginHost>.Place] { places.withLock { $0 } }
    func add(_ place: Slots<OriginHost>.Place) { places.withLock { $0.append(place) } }
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
