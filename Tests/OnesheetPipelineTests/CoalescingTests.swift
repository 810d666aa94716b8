import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

final class CoalescingTests: XCTestCase {
    private let job = CountedJob()
    private var gate: Gate { job.gate }

    func testThatManyWhoAskAtTheSameTimeShareOnePieceOfWork() async throws {
        // Given work that ends after a hundred waiters have joined
        let (flights, job) = (flights(opening: 100), job)
        // When a hundred callers share it
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await flights.share("key", job.run) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // Then all get one result
        XCTAssertEqual(values, Array(repeating: 1, count: 100))
        XCTAssertEqual(job.starts, 1)
    }

    func testThatWhoAsksAfterTheWorkHasEndedStartsItAgain() async throws {
        // Given completed work
        let flights = flights(opening: 1)
        _ = try await flights.share("key", job.run)
        // When it is requested again
        let second = try await flights.share("key", job.run)
        // Then it runs again
        XCTAssertEqual(second, 2)
    }

    func testThatDifferentKeysDoNotShare() async throws {
        // Given work for one key
        let flights = flights(opening: 1)
        _ = try await flights.share("a", job.run)
        // When another key is requested
        let second = try await flights.share("b", job.run)
        // Then it has its own work
        XCTAssertEqual(second, 2)
    }

    func testThatAFailureReachesTheWaiter() async {
        // Given work that throws
        let flights = flights(opening: 1)
        do throws(Failure) {
            // When it is requested
            _ = try await flights.share("key") { () async throws(Failure) in throw .refused }
            XCTFail("nothing was thrown")
        } catch {
            // Then the call throws the same error
            XCTAssertEqual(error, .refused)
        }
    }

    func testThatOneWaitersCancellationDoesNotHurtAnother() async throws {
        // Given two waiters for the same work
        let joined = Gate()
        let flights = Coalescing<String, Int, Failure>(
            cancelled: .cancelled, onJoin: { _, waiters in if waiters == 2 { joined.open() } })
        let job = job
        let stays = Task { try await flights.share("key", job.run) }
        let leaves = Task { try await flights.share("key", job.run) }
        try await joined.pass()
        // When one of them is cancelled
        leaves.cancel()
        let left = await leaves.result
        gate.open()
        // Then it leaves immediately, and the other gets its value
        XCTAssertThrowsError(try left.get()) { XCTAssertEqual($0 as? Failure, .cancelled) }
        let value = try await stays.value
        XCTAssertEqual(value, 1)
    }

    func testThatTheWorkIsCancelledWhenItsLastWaiterLeaves() async throws {
        // Given work with one waiter
        let (flights, told) = (Coalescing<String, Int, Failure>(cancelled: .cancelled), Gate())
        let gate = gate
        let waiter = Task {
            try await flights.share("key") { () async throws(Failure) in
                do { try await gate.pass() } catch { told.open() }
                throw .late
            }
        }
        await gate.hasBeenReached()
        // When it leaves
        waiter.cancel()
        let result = await waiter.result
        // Then the work is cancelled: otherwise this would wait for ever
        try await told.pass()
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual($0 as? Failure, .cancelled) }
    }

    func testThatACallerCancelledBeforehandLeavesAtOnce() async throws {
        // Given a task that is cancelled before it calls
        let (flights, door) = (Coalescing<String, Int, Failure>(cancelled: .cancelled), Gate())
        let job = job
        let task = Task {
            do { try await door.pass() } catch {}
            return try await flights.share("key", job.run)
        }
        await door.hasBeenReached()
        // When it requests work that waits for the test
        task.cancel()
        let result = await task.result
        // Then it gets the error
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual($0 as? Failure, .cancelled) }
    }

    func testThatThereAreOnlySoManyPiecesOfWorkAndSoManyWaiters() async throws {
        // Given room for two pieces of work and three waiters, all taken
        let flights = Coalescing<String, Int, Failure>(
            cancelled: .cancelled, full: .refused, mostFlights: 2, mostWaiters: 3,
            onJoin: { [gate] key, waiters in if key == "b", waiters == 2 { gate.open() } })
        let (job, held) = (job, Gate())
        let work: @Sendable () async throws(Failure) -> Int = { () async throws(Failure) in
            do { try await held.pass() } catch { throw .late }
            return try await job.run()
        }
        let waiting = ["a", "b"].map { key in Task { try await flights.share(key, work) } }
        await held.hasBeenReached(by: 2)
        // When work for a third key is requested
        let third = await failure(flights, "c", work: work)
        // Then it is refused immediately
        XCTAssertEqual(third, .refused)
        // And a fourth waiter is refused too
        let last = Task { try await flights.share("b", work) }
        try await gate.pass()
        let fourth = await failure(flights, "b", work: work)
        XCTAssertEqual(fourth, .refused)
        // And when one leaves, another may join
        last.cancel()
        _ = await last.result
        let next = Task { try await flights.share("b", work) }
        held.open()
        for task in waiting + [next] { _ = try await task.value }
    }

    func testThatSeveralKeysWithoutAFlightBecomeOnePieceOfWork() async throws {
        // Given running work for one key
        let (flights, joined) = (Coalescing<String, Int, Failure>(cancelled: .cancelled), Gate())
        let job = job
        async let first = flights.share("a") { () async throws(Failure) in
            joined.open()
            return try await job.run()
        }
        try await joined.pass()
        // When three keys are requested: that one, and another one twice
        async let all = flights.share(["b", "a", "c", "b"]) { flights async throws(Failure) in
            let value = try await job.run()
            return Dictionary(uniqueKeysWithValues: flights.keys.map { ($0, value) })
        }
        await gate.hasBeenReached(by: 2)
        gate.open()
        // Then the others share a second piece of work, and the values are in order
        let (one, values) = try await (first, all)
        XCTAssertEqual([one] + values, [1, 2, 1, 2, 2])
        XCTAssertEqual(job.starts, 2)
    }

    func testThatAnInteractiveCallerDoesNotWaitForAPrefetchThatHasNotBegun() async throws {
        // Given a waiting prefetch
        let (flights, held) = (Coalescing<String, Int, Failure>(cancelled: .cancelled), Gate())
        let prefetch = WorkContext.with({ $0.urgency = .prefetch }) {
            Task {
                try await flights.share("key") { () async throws(Failure) in
                    do { try await held.pass() } catch { throw .late }
                    throw .refused
                }
            }
        }
        await held.hasBeenReached()
        // When an interactive caller requests the same
        let value = try await flights.share("key") { () async throws(Failure) in 7 }
        held.open()
        // Then it gets its value before the prefetch has failed
        XCTAssertEqual(value, 7)
        let failed = await prefetch.result
        XCTAssertThrowsError(try failed.get()) { XCTAssertEqual($0 as? Failure, .refused) }
    }

    func testThatTheFlightThatBeginsFirstServesTheWaitersOfBoth() async throws {
        for first in Urgency.allCases {
            // Given a prefetch and an interactive flight for one key
            let (flights, told) = (Coalescing<String, Int, Failure>(cancelled: .cancelled), Gate())
            let gates = [Urgency.interactive: Gate(), .prefetch: Gate()]
            let tasks = Urgency.allCases.map { urgency in
                WorkContext.with({ $0.urgency = urgency }) {
                    Task {
                        try await flights.share(["key"]) { flights async throws(Failure) in
                            do { try await gates[urgency]?.pass() } catch {
                                told.open()
                                throw .late
                            }
                            return Dictionary(uniqueKeysWithValues: flights.begin().map { ($0, urgency == first ? 1 : 2) })
                        }
                    }
                }
            }
            for gate in gates.values { await gate.hasBeenReached() }
            // When one of them begins
            gates[first]?.open()
            // Then both waiters get its value, and the other work is cancelled: otherwise this would wait for ever
            for task in tasks {
                let values = try await task.value
                XCTAssertEqual(values, [1], "\(first)")
            }
            try await told.pass()
        }
    }

    func testThatAWaiterThatWasTakenOverCanLeave() async throws {
        // Given a prefetch that has begun and serves an interactive caller
        let (flights, reached, held) = (Coalescing<String, Int, Failure>(cancelled: .cancelled), Gate(), Gate())
        let visitor = Task {
            try await flights.share("key") { () async throws(Failure) in
                do { try await reached.pass() } catch { throw .late }
                return 2
            }
        }
        await reached.hasBeenReached()
        let prefetch = WorkContext.with({ $0.urgency = .prefetch }) {
            Task {
                try await flights.share(["key"]) { flights async throws(Failure) in
                    _ = flights.begin()
                    do { try await held.pass() } catch { throw .late }
                    return ["key": 1]
                }
            }
        }
        await held.hasBeenReached()
        // When the caller leaves
        visitor.cancel()
        let left = await visitor.result
        // Then it leaves immediately, and the prefetch continues
        XCTAssertThrowsError(try left.get()) { XCTAssertEqual($0 as? Failure, .cancelled) }
        held.open()
        let values = try await prefetch.value
        XCTAssertEqual(values, [1])
    }

    private func failure(
        _ flights: Coalescing<String, Int, Failure>, _ key: String, work: @escaping @Sendable () async throws(Failure) -> Int
    ) async -> Failure? {
        do throws(Failure) {
            _ = try await flights.share(key, work)
            return nil
        } catch {
            return error
        }
    }

    func testThatAFlightDoesNothingForAResultThatHasBeenStoredMeanwhile() async throws {
        // Given the result for one of two keys, which an earlier flight has stored
        let flights = Coalescing<String, Int, Failure>(cancelled: .cancelled, find: { $0 == "stored" ? 1 : nil })
        let asked = Mutex<[[String]]>([])

        // When both are asked for, and the stored one alone
        let work: @Sendable (Coalescing<String, Int, Failure>.Flights) async throws(Failure) -> [String: Int] = {
            flights throws(Failure) in
            asked.withLock { $0.append(flights.keys) }
            guard flights.begin() == ["missing"] else { throw .refused }
            return ["missing": 2]
        }
        let both = try await flights.share(["stored", "missing"], work)
        let alone = try await flights.share(["stored"], work)

        // Then only the other is worked for
        XCTAssertEqual(both, [1, 2])
        XCTAssertEqual(alone, [1])
        XCTAssertEqual(asked.withLock { $0 }, [["missing"]])
    }

    func testThatAFailureLeavesTheResultsThatWereFound() async throws {
        // Given the result for one of two keys
        let flights = Coalescing<String, Int, Failure>(cancelled: .cancelled, find: { $0 == "stored" ? 1 : nil })
        let held = Gate()

        // When the work for the other one fails while a second caller waits for the stored one
        let work: @Sendable (Coalescing<String, Int, Failure>.Flights) async throws(Failure) -> [String: Int] = {
            _ throws(Failure) in
            do { try await held.pass() } catch { throw .cancelled }
            throw .late
        }
        let first = Task { try await flights.share(["stored", "missing"], work) }
        let second = Task { try await flights.share(["stored"], work) }
        held.open()

        // Then only those who need the other one get the failure
        let (failed, found) = (await first.result, try await second.value)
        XCTAssertThrowsError(try failed.get())
        XCTAssertEqual(found, [1])
    }

    /// Coalescing that opens the gate after `count` waiters have joined.
    private func flights(opening count: Int) -> Coalescing<String, Int, Failure> {
        Coalescing(cancelled: .cancelled, onJoin: { [gate] _, waiters in if waiters == count { gate.open() } })
    }
}

private enum Failure: Error, Equatable { case cancelled, refused, late }

/// Work that counts its starts, and ends after the gate opens.
private final class CountedJob: Sendable {
    let gate = Gate()
    private let count = Mutex(0)

    var starts: Int { count.withLock { $0 } }

    @Sendable func run() async throws(Failure) -> Int {
        let number = count.withLock { count in
            count += 1
            return count
        }
        do { try await gate.pass() } catch { throw .late }
        return number
    }
}
