import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetCluster

final class BoundedCoordinatorTests: XCTestCase {
    private let engine = FakeCoordinator()

    func testThatAnswersPassUnchanged() async throws {
        let coordinator = BoundedCoordinator(engine, deadline: .seconds(60))
        let lease = try await coordinator.acquire("l", for: "a", milliseconds: 1000)
        let isRenewed = try await coordinator.renew("l", for: "b", milliseconds: 1000)
        try await coordinator.release("l", for: "a")
        let position = try await coordinator.append("text", to: "log")
        let page = try await coordinator.read("log", after: .start, limit: 5, waiting: 0)
        let sum = try await coordinator.add(2, to: "c", limit: 2, milliseconds: 1000)
        let more = try await coordinator.add(1, to: "c", limit: 2, milliseconds: 1000)
        let count = try await coordinator.count(of: "c")
        XCTAssertEqual(lease, .granted(token: 1))
        XCTAssertFalse(isRenewed)
        XCTAssertFalse(engine.isHeld("l"))
        XCTAssertEqual(page.records, [.init(position: position, text: "text")])
        XCTAssertEqual([sum, more, count], [2, nil, 2])
    }

    func testThatItDoesWhatEveryCoordinatorHasToDo() async {
        let clock = ManualClock()
        let engine = FakeCoordinator(clock: clock)
        let (first, second) = (BoundedCoordinator(engine, prefix: "posters"), BoundedCoordinator(engine, prefix: "posters"))

        let report = await CoordinatorConformance(
            first, second, engine: .init(pass: { clock.advance(by: .milliseconds($0)) })
        ).run()

        XCTAssertTrue(report.failures.isEmpty, report.description)
    }

    func testThatInstallationsWithOneEngineAreApart() async throws {
        // Given
        let one = BoundedCoordinator(engine, prefix: "one")
        // When
        _ = try await one.append("purge", to: "log")
        _ = try await one.add(1, to: "count", limit: 1, milliseconds: 60_000)
        _ = try await one.acquire("work", for: "a", milliseconds: 60_000)
        // Then
        XCTAssertEqual(engine.records(of: "one/log"), ["purge"])
        XCTAssertTrue(engine.isHeld("one/work"))
        for other in [BoundedCoordinator(engine, prefix: "two"), BoundedCoordinator(engine, prefix: "")] {
            let records = try await other.read("log", after: .start, limit: 10, waiting: 0).records
            XCTAssertEqual(records, [])
            let count = try await other.count(of: "count")
            XCTAssertEqual(count, 0)
            guard case .granted = try await other.acquire("work", for: "b", milliseconds: 60_000) else {
                return XCTFail("the lease of another installation is in the way")
            }
        }
    }

    func testThatACallThatHangsEndsInTime() async {
        // Given an engine that never answers
        engine.gate = Gate()
        let coordinator = BoundedCoordinator(engine, deadline: .milliseconds(5))
        // When it is asked
        do {
            _ = try await coordinator.count(of: "c")
            XCTFail("no answer came")
        } catch {
            XCTAssertEqual(error, .timedOut(operation: "read a count"))
        }
    }

    func testThatAFailingEngineIsLeftAloneForAWhileButTheLogIsRead() async throws {
        // Given an engine that has failed several times
        engine.isUnreachable = true
        let coordinator = BoundedCoordinator(engine, deadline: .seconds(60))
        for _ in 0..<5 {
            do {
                _ = try await coordinator.count(of: "c")
                XCTFail("the engine is down")
            } catch {}
        }
        engine.isUnreachable = false
        // When it is asked again
        do {
            _ = try await coordinator.count(of: "c")
            XCTFail("it is left alone")
        } catch {
            XCTAssertEqual(
                error, .unreachable(operation: "read a count", reason: "it is left alone for a while after failures"))
        }
        // Then it is not called, except for its log, which no request waits for
        XCTAssertEqual(engine.calls(of: "count"), 5)
        _ = try await coordinator.read("log", after: .start, limit: 5, waiting: 0)
    }

    func testThatACancelledCallSaysNothingAboutTheEngine() async throws {
        let gate = Gate()
        engine.gate = gate
        let coordinator = BoundedCoordinator(engine, deadline: .seconds(60))
        for number in 1...5 {
            let call = Task { try await coordinator.count(of: "c") }
            await gate.hasBeenReached(by: number)
            call.cancel()
            _ = await call.result
        }
        engine.gate = nil
        let count = try await coordinator.count(of: "c")
        XCTAssertEqual(count, 0)
    }
}
