import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

final class HostSlotsTests: XCTestCase {
    private let slots = HostSlots(limit: 2)

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
