import Synchronization
import XCTest

@testable import OnesheetCore

/// Work with a time limit that is cancelled at its end, and sleep.
final class TimeoutTests: XCTestCase {
    private enum Probe { @TaskLocal static var value = 0 }

    private struct Failed: Error {}

    func testThatWorkInTimeGivesItsResult() async throws {
        let value = try await Probe.$value.withValue(7) {
            try await withTimeout(.seconds(3600)) {
                await Task.yield()
                return Probe.value
            }
        }
        XCTAssertEqual(value, 7)
    }

    func testThatWorkThatFailsInTimeGivesItsError() async {
        do {
            _ = try await withTimeout(.seconds(3600)) { () async throws -> Int in throw Failed() }
            XCTFail("it has no result")
        } catch {
            XCTAssertTrue(error is Failed)
        }
    }

    func testThatWorkThatTakesTooLongIsCancelledAndAwaited() async throws {
        // Given work that continues until it is cancelled, and then a little longer
        let isDone = Mutex(false)
        // When it has little time
        let value = try await withTimeout(.milliseconds(5)) {
            _ = await sleepUnlessCancelled(for: .seconds(3600))
            await Task.yield()
            isDone.withLock { $0 = true }
            return 7
        }
        // Then it has no result, and has ended
        XCTAssertNil(value)
        XCTAssertTrue(isDone.withLock { $0 })
    }

    func testThatCancelledWorkOfACancelledCallerFailsAsCancelled() async {
        // Given a caller that waits for work
        let hasBegun = FirstOutcome<Void>()
        let caller = Task {
            try await withTimeout(.seconds(3600)) {
                hasBegun.give(())
                if await !sleepUnlessCancelled(for: .seconds(3600)) { throw Failed() }
            }
        }
        await hasBegun.value()
        // When the caller is cancelled
        caller.cancel()
        // Then the work is too, and its own error does not count
        let result = await caller.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError) }
    }

    func testThatACancelledCallerBeginsNothing() async {
        let hasBegun = Mutex(false)
        let caller = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await withTimeout(.seconds(3600)) { hasBegun.withLock { $0 = true } }
        }
        caller.cancel()
        let result = await caller.result
        XCTAssertThrowsError(try result.get())
        XCTAssertFalse(hasBegun.withLock { $0 })
    }

    func testThatASleepEndsAfterItsTimeOrWhenItsTaskIsCancelled() async {
        let whole = await sleepUnlessCancelled(for: .milliseconds(1))
        XCTAssertTrue(whole)
        let cancelled = Task { await sleepUnlessCancelled(for: .seconds(3600)) }
        cancelled.cancel()
        let isWhole = await cancelled.value
        XCTAssertFalse(isWhole)
    }
}
