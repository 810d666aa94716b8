import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

final class HostSlotsTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var slots = HostSlots(limit: 2, queue: 3, clock: clock.wallClock)

    func testThatAHostGetsSoManyRequestsAtATimeAndNoMore() async throws {
        // Given a host with both places taken by work that hangs
        let (slots, gate, host) = (slots, Gate(), try host("http://slow.example/"))
        let hanging = (0..<5).map { _ in Task { try await slots.with(host) { try await gate.pass() } } }
        await gate.hasBeenReached(by: 2)
        // When another host is asked
        let answer = try await slots.with(try self.host("http://good.example/")) { "good" }
        // Then it does not wait, and the slow one has two at work however many wait
        XCTAssertEqual(answer, "good")
        XCTAssertEqual(gate.arrived, 2)
        gate.open()
        for task in hanging { try await task.value }
        XCTAssertEqual(gate.arrived, 5)
        XCTAssertEqual(slots.load(of: host), 0)
    }

    func testThatWhoLeavesTheLineGivesNobodysPlaceAway() async throws {
        // Given a full host, and one who waits
        let (slots, gate, host) = (slots, Gate(), try host("http://slow.example/"))
        let hanging = (0..<2).map { _ in Task { try await slots.with(host) { try await gate.pass() } } }
        await gate.hasBeenReached(by: 2)
        let waiting = Task { try await slots.with(host) { XCTFail("it was cancelled") } }
        while slots.load(of: host) < 3 { await Task.yield() }
        // When the waiting one leaves, and one at work too
        waiting.cancel()
        hanging[0].cancel()
        // Then both go, and the rest goes on
        await assertCancelled(waiting)
        await assertCancelled(hanging[0])
        let next = try await slots.with(host) { "next" }
        XCTAssertEqual(next, "next")
        gate.open()
        try await hanging[1].value
        XCTAssertEqual(slots.load(of: host), 0)
    }

    func testThatOneMoreThanMayWaitIsRefusedAtOnceAndToldWhenToComeBack() async throws {
        // Given a host with two at work, and as many waiting as may
        let (slots, gate, host) = (slots, Gate(), try host("http://slow.example/"))
        let tasks = (0..<5).map { _ in Task { try await slots.with(host) { try await gate.pass() } } }
        while slots.load(of: host) < 5 { await Task.yield() }
        // When one more comes, and nobody knows yet how long requests take there
        await assertFull(retryAfter: 2, host)
        XCTAssertEqual(slots.load(of: host), 5)
        // Then it is refused, and others are not
        let other = try await slots.with(try self.host("http://good.example/")) { "good" }
        XCTAssertEqual(other, "good")
        for task in tasks { task.cancel() }
        for task in tasks { await assertCancelled(task) }
        XCTAssertEqual(slots.load(of: host), 0)
    }

    func testThatTheTimeToComeBackFollowsFromHowLongRequestsTook() async throws {
        // Given a host that takes a minute for each request and is never without one
        let (slots, host) = (slots, try host("http://slow.example/"))
        let held = Gate()
        let holding = Task { try await slots.with(host) { try await held.pass() } }
        await held.hasBeenReached()
        for _ in 0..<40 { try await slots.with(host) { clock.advance(by: .seconds(60)) } }
        // When its line is full
        let tasks = (0..<4).map { _ in Task { try await slots.with(host) { try await held.pass() } } }
        while slots.load(of: host) < 5 { await Task.yield() }
        // Then whoever comes is told how long four take, two at a time
        await assertFull(retryAfter: 120, host)
        held.open()
        for task in tasks + [holding] { try await task.value }
    }

    func testThatWithoutALineNobodyWaits() async throws {
        let (slots, gate, host) = (HostSlots(limit: 1, queue: 0, clock: clock.wallClock), Gate(), try host("http://slow.example/"))
        let working = Task { try await slots.with(host) { try await gate.pass() } }
        await gate.hasBeenReached()
        do {
            try await slots.with(host) { XCTFail("it is in") }
            XCTFail("it was let wait")
        } catch {
            XCTAssertEqual(error as? HostSlots.Full, HostSlots.Full(retryAfter: 1))
        }
        gate.open()
        try await working.value
    }

    private func assertFull(retryAfter: Int, _ host: OriginHost, line: UInt = #line) async {
        do {
            try await slots.with(host) { XCTFail("it is in", line: line) }
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
