import Logging
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetCluster

/// Servers that do one piece of work once.
final class FlightLeasesTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var coordinator = FakeCoordinator(clock: clock)

    func testThatOneServerWorksAndTheOthersFindItsResult() async throws {
        // Given three servers that ask for the same at once
        let servers = (0..<3).map { leases("\($0)") }
        let (gate, store) = (Gate(), Results())
        // When one of them works
        let answers = servers.enumerated().map { number, server in start(server, store: store, text: "\(number)", at: gate) }
        await gate.hasBeenReached()
        await waitWhile(servers.reduce(0) { $0 + $1.counts.waited } < 2)
        gate.open()
        // Then all have its result
        var texts: Set<String> = []
        for answer in answers { texts.insert(try await answer.value) }
        XCTAssertEqual(texts.count, 1)
        XCTAssertEqual(store.works, 1)
        XCTAssertEqual(servers.reduce(0) { $0 + $1.counts.taken }, 1)
        XCTAssertEqual(servers.reduce(0) { $0 + $1.counts.alone }, 0)
        for server in servers { await server.shutdown() }
        XCTAssertFalse(coordinator.isHeld("interactive:poster"))
    }

    func testThatTheLeaseEndsOnlyWhenOthersFindTheResult() async throws {
        // Given a result that is not written yet
        let (server, written) = (leases("0"), Gate())
        let turn = try await server.turn("poster") { do { try await written.pass() } catch { XCTFail("\(error)") } }
        XCTAssertEqual(turn?.mayBeDone, false)
        turn?.end(.done)
        // Then the lease is held until it is written
        await written.hasBeenReached()
        XCTAssertTrue(coordinator.isHeld("interactive:poster"))
        written.open()
        await server.shutdown()
        XCTAssertFalse(coordinator.isHeld("interactive:poster"))
    }

    func testThatALookUpThatWasTooEarlyIsMadeAgain() async throws {
        // Given a server that has done the work just after another one has looked for the result
        let (first, second, store) = (leases("0"), leases("1"), Results())
        _ = try await share(first, store: store, text: "first")
        await first.shutdown()
        // When that one takes the lease
        let answer = try await share(second, store: store, text: "second")
        // Then it finds the result
        XCTAssertEqual(answer, "first")
        XCTAssertEqual(store.works, 1)
        XCTAssertEqual(second.counts.taken, 0)
    }

    func testThatADeadHolderIsTakenOverFrom() async throws {
        // Given a holder that has died
        _ = try await coordinator.acquire("interactive:poster", for: "dead", milliseconds: 5000)
        let (server, store) = (leases("0"), Results())
        let answer = start(server, store: store, text: "0")
        await waitWhile(server.counts.waited == 0)
        XCTAssertEqual(store.works, 0)
        // When its lease ends
        clock.advance(by: .seconds(5))
        // Then another one works
        let text = try await answer.value
        XCTAssertEqual(text, "0")
        XCTAssertEqual(server.counts, FlightLeases.Counts(taken: 1, waited: 1, alone: 0))
    }

    func testThatAFailedHolderLetsTheNextOneTry() async throws {
        let (first, second, store) = (leases("0"), leases("1"), Results())
        do {
            _ = try await share(first, store: store, text: "0", failing: .failed)
            XCTFail("it failed")
        } catch {
            XCTAssertEqual(error as? WorkError, .failed)
        }
        await first.shutdown()
        let answer = try await share(second, store: store, text: "1")
        XCTAssertEqual(answer, "1")
    }

    func testThatWithoutTheCoordinatorEachWorksAlone() async throws {
        for isSlow in [false, true] {
            (coordinator.isUnreachable, coordinator.isSlow) = (!isSlow, isSlow)
            let (server, store) = (leases("0"), Results())
            let answer = try await share(server, store: store, text: "0")
            XCTAssertEqual(answer, "0")
            XCTAssertEqual(server.counts, FlightLeases.Counts(taken: 0, waited: 0, alone: 1))
        }
    }

    func testThatAHolderThatNeverEndsIsNotWaitedForForEver() async throws {
        _ = try await coordinator.acquire("interactive:poster", for: "other", milliseconds: 3_600_000)
        let (server, store) = (leases("0", longestWait: .milliseconds(20)), Results())
        let answer = try await share(server, store: store, text: "0")
        XCTAssertEqual(answer, "0")
        XCTAssertEqual(server.counts.alone, 1)
    }

    func testThatACancelledWaiterLeavesAtOnce() async throws {
        _ = try await coordinator.acquire("interactive:poster", for: "other", milliseconds: 3_600_000)
        let (server, store) = (leases("0"), Results())
        let answer = start(server, store: store, text: "0")
        await waitWhile(server.counts.waited == 0)
        answer.cancel()
        let result = await answer.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError) }
        XCTAssertEqual(store.works, 0)
    }

    func testThatALongPieceOfWorkKeepsItsLease() async throws {
        // Given work that takes longer than a lease of 30 ms
        let (server, gate, store) = (leases("0", lifetime: 30), Gate(), Results())
        let answer = start(server, store: store, text: "0", at: gate)
        await gate.hasBeenReached()
        await waitWhile(coordinator.calls(of: "renew") < 3)
        XCTAssertTrue(coordinator.isHeld("interactive:poster"))
        gate.open()
        _ = try await answer.value
        await server.shutdown()
    }

    func testThatPeopleDoNotWaitForAPrefetch() async throws {
        let (server, gate, store) = (leases("0"), Gate(), Results())
        let prefetch = WorkContext.with({ $0.urgency = .prefetch }) { start(server, store: store, text: "prefetch", at: gate) }
        await gate.hasBeenReached()
        let answer = try await share(leases("1"), store: store, text: "1")
        XCTAssertEqual(answer, "1")
        gate.open()
        _ = try await prefetch.value
    }

    func testThatAVisitorFindsWhatAPrefetchHasJustDone() async throws {
        // Given a prefetch that has just done the work, after another server has looked for the result
        let (server, store) = (leases("0"), Results())
        _ = try await WorkContext.with({ $0.urgency = .prefetch }) { try await share(server, store: store, text: "prefetch") }
        await server.shutdown()
        // When a visitor's lease is granted there
        let answer = try await share(leases("1"), store: store, text: "visitor")
        // Then it finds the result
        XCTAssertEqual(answer, "prefetch")
        XCTAssertEqual(store.works, 1)
    }

    private func leases(_ name: String, lifetime: Int = 5000, longestWait: Duration = .seconds(60))
        -> FlightLeases
    {
        FlightLeases(
            coordinator, holder: name, lifetime: lifetime, longestWait: longestWait, logger: .silent)
    }
}

/// Makes `text`, after the gate has opened, or fails.
private func share(
    _ leases: FlightLeases, store: Results, text: String, at gate: Gate? = nil, failing error: WorkError? = nil
) async throws -> String {
    let turn = try await leases.turn("poster") {}
    var outcome = ClusterTurn.Outcome.failed
    defer { turn?.end(outcome) }
    if turn?.mayBeDone ?? false, let found = store.result {
        outcome = .foundElsewhere
        return found
    }
    try await gate?.pass()
    if let error { throw error }
    outcome = .done
    return store.make(text)
}

private enum WorkError: Error {
    case failed
}

/// The same in a task of its own.
private func start(_ leases: FlightLeases, store: Results, text: String, at gate: Gate? = nil) -> Task<String, any Error> {
    Task { try await share(leases, store: store, text: text, at: gate) }
}

/// What the servers share.
private final class Results: Sendable {
    private let state = Mutex((result: String?.none, works: 0))
    var result: String? { state.withLock { $0.result } }
    var works: Int { state.withLock { $0.works } }

    func make(_ text: String) -> String {
        state.withLock { state in
            state.result = text
            state.works += 1
        }
        return text
    }
}
