import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

/// Foreign code that hangs, and the effects on its waiters and on later jobs.
final class RenderPoolTests: XCTestCase {
    private let door = ThreadDoor()

    override func tearDown() { door.open() }

    func testThatWhoeverWaitsIsAnsweredAtTheDeadlineAndTheWorkerCountsAsStuck() async throws {
        // Given a worker, memory for one job, and a hanging job
        let (pool, door) = (pool(workers: 1, deadline: .milliseconds(20), memory: 100), door)
        // When it is run
        let error = await Self.failure {
            try await pool.run(cost: RenderCost(milliseconds: 1, bytes: 60)) { () throws(Failure) in door.pass() }
        }
        // Then its caller gets an error, and the worker and its memory stay taken
        XCTAssertEqual(error, .timedOut(.milliseconds(22)))
        XCTAssertEqual(pool.stuck.render, 1)
        XCTAssertEqual(pool.load, 1)
        XCTAssertEqual(pool.memory.reserved, 60)
        // And inspections continue
        let seen = try await pool.examine { () throws(Failure) in 7 }
        XCTAssertEqual(seen, 7)
        // And after it returns, everything is available again
        door.open()
        await waitWhile(pool.load > 0)
        XCTAssertEqual(pool.memory.reserved, 0)
        XCTAssertEqual(pool.stuck.render, 0)
        let made = try await pool.run { () throws(Failure) in 8 }
        XCTAssertEqual(made, 8)
    }

    func testThatNobodyWaitsLongerThanTheyMayBehindAJobThatHangs() async throws {
        // Given a worker with a job that hangs after a prediction of a millisecond
        let (pool, door) = (pool(workers: 1, longestWait: .milliseconds(30), longestPrefetchWait: .milliseconds(60)), door)
        let hung = Task {
            try await pool.run(cost: RenderCost(milliseconds: 1, bytes: 0)) { () throws(Failure) in door.pass() }
        }
        await door.hasBeenReached()
        // When an interactive job and a prefetch come
        async let asked = Self.failure { try await pool.run { () throws(Failure) in } }
        async let early = WorkContext.with({ $0.urgency = .prefetch }) {
            await Self.failure { try await pool.run { () throws(Failure) in } }
        }
        // Then both are refused with a time for a retry, and none waits
        for error in await [asked, early] {
            guard case .after(let seconds)? = error?.retry else { return XCTFail("\(String(describing: error))") }
            XCTAssertEqual(error, .overloaded(retryAfter: seconds))
            XCTAssertGreaterThanOrEqual(seconds, 1)
        }
        XCTAssertEqual(pool.load, 1)
        XCTAssertEqual(pool.waiting(.interactive) + pool.waiting(.prefetch), 0)
        door.open()
        try await hung.value
    }

    func testAJobWaitsForTheMemoryOfAnother() async throws {
        // Given two workers, and memory for one of two jobs, which runs
        let (pool, door) = (pool(workers: 2, memory: 100), door)
        let first = Task {
            try await pool.run(cost: RenderCost(milliseconds: 1, bytes: 60)) { () throws(Failure) in door.pass() }
        }
        await door.hasBeenReached()
        // When the other comes
        let second = Task { try await pool.run(cost: RenderCost(milliseconds: 1, bytes: 60)) { () throws(Failure) in 2 } }
        await waitWhile(pool.waiting(.interactive) == 0)
        // Then it waits, and one that fits passes it
        let small = try await pool.run(cost: RenderCost(milliseconds: 1, bytes: 20)) { () throws(Failure) in 3 }
        XCTAssertEqual(small, 3)
        XCTAssertEqual(pool.waiting(.interactive), 1)
        // And it begins when the first gives its memory back
        door.open()
        let made = try await second.value
        XCTAssertEqual(made, 2)
        try await first.value
        await waitWhile(pool.load > 0)
        XCTAssertEqual(pool.memory.reserved, 0)
        XCTAssertLessThanOrEqual(pool.memory.peak, 100)
    }

    func testAJobIsRefusedIfNoRunningJobHasTheMemory() async throws {
        // Given memory that something else holds, and a job with the rest
        let (pool, door) = (pool(workers: 2, memory: 100), door)
        let held = pool.memory.charge(40)
        let first = Task {
            try await pool.run(cost: RenderCost(milliseconds: 1, bytes: 30)) { () throws(Failure) in door.pass() }
        }
        await door.hasBeenReached()
        // When another needs more than is left beside what is held
        let second = Task { try await pool.run(cost: RenderCost(milliseconds: 1, bytes: 80)) { () throws(Failure) in 2 } }
        await waitWhile(pool.waiting(.interactive) == 0)
        // Then the pool refuses it after the last job has ended, and the next one at once
        door.open()
        let result = await second.result
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual($0 as? Failure, .overloaded(retryAfter: 1)) }
        try await first.value
        await waitWhile(pool.load > 0)
        let next = await Self.failure {
            try await pool.run(cost: RenderCost(milliseconds: 1, bytes: 80)) { () throws(Failure) in }
        }
        XCTAssertEqual(next?.title, "Overloaded")
        XCTAssertEqual(pool.memory.reserved, 40)
        withExtendedLifetime(held) {}
    }

    func testWaitForMemoryIsBounded() async throws {
        // Given a job that hangs with the memory
        let (pool, door) = (pool(workers: 2, longestWait: .milliseconds(20), memory: 100), door)
        let hung = Task {
            try await pool.run(cost: RenderCost(milliseconds: 1, bytes: 60)) { () throws(Failure) in door.pass() }
        }
        await door.hasBeenReached()
        // When another needs it, then it is refused after the longest wait
        let error = await Self.failure {
            try await pool.run(cost: RenderCost(milliseconds: 1, bytes: 60)) { () throws(Failure) in }
        }
        XCTAssertEqual(error?.title, "Overloaded")
        XCTAssertEqual(pool.load, 1)
        door.open()
        try await hung.value
    }

    func testThatALookThatHangsEndsAtItsDeadlineToo() async throws {
        let (pool, door) = (pool(workers: 1, deadline: .milliseconds(20)), door)
        let error = await Self.failure { try await pool.examine { () throws(Failure) in door.pass() } }
        XCTAssertEqual(error, .timedOut(.milliseconds(20)))
        XCTAssertEqual(pool.stuck.examine, 1)
        XCTAssertEqual(pool.stuck.render, 0)
    }

    func testThatWhoeverLeavesARunningJobLeavesAtOnce() async throws {
        // Given a hanging job
        let (pool, door) = (pool(workers: 1), door)
        let job = Task { try await pool.run { () throws(Failure) in door.pass() } }
        await door.hasBeenReached()
        // When its caller is cancelled, then the caller does not wait for it
        job.cancel()
        let result = await job.result
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual($0 as? Failure, .cancelled) }
        XCTAssertEqual(pool.load, 1)
    }

    func testThatThoseInLineAreToldWhenThePoolEnds() async throws {
        // Given a job that waits behind a hanging one
        let (pool, door) = (pool(workers: 1), door)
        let hung = Task { try await pool.run { () throws(Failure) in door.pass() } }
        await door.hasBeenReached()
        let waits = Task { try await pool.run { () throws(Failure) in } }
        await waitWhile(pool.waiting(.interactive) == 0)
        // When the pool ends, which takes as long as the hanging job
        let end = Task { await pool.shutdown() }
        let result = await waits.result
        // Then the waiting one is cancelled immediately
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual($0 as? Failure, .cancelled) }
        door.open()
        await end.value
        try await hung.value
        // And later jobs are refused
        let late = await Self.failure { try await pool.run { () throws(Failure) in } }
        XCTAssertEqual(late, .cancelled)
    }

    private func pool(
        workers: Int, longestWait: Duration = .seconds(10), longestPrefetchWait: Duration = .seconds(600),
        deadline: Duration = .seconds(20), memory: Int = 1 << 20
    ) -> RenderPool {
        RenderPool(
            workers: workers, queue: 8, longestWait: longestWait, longestPrefetchWait: longestPrefetchWait, deadline: deadline,
            memory: MemoryBudget(limit: memory))
    }

    private static func failure<Value>(_ body: () async throws -> Value) async -> Failure? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? Failure
        }
    }
}
