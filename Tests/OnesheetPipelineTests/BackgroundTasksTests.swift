import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

final class BackgroundTasksTests: XCTestCase {
    private let gate = Gate()

    func testThatThereIsOnePieceOfWorkForEachPurposeAndOnlySoManyOfThem() async throws {
        // Given room for two tasks
        let (tasks, gate) = (BackgroundTasks(limit: 2), gate)
        // When two start, each of them twice, and then a third
        let begun = ["a", "a", "b", "b", "c"].map { name in tasks.start(Self.refresh(name)) { try await gate.pass() } }
        // Then two are running, and only the third was refused
        XCTAssertEqual(begun.map { $0 != nil }, [true, false, true, false, false])
        XCTAssertEqual(tasks.underWay, 2)
        XCTAssertEqual(tasks.skipped, 1)
        // And after their end there is room again
        gate.open()
        for task in begun { try await task?.value }
        await waitWhile(tasks.underWay > 0)
        XCTAssertNotNil(tasks.start(Self.refresh("a")) {})
    }

    func testThatTheEndCancelsAllAndBeginsNothingMore() async throws {
        // Given a task that waits for the test
        let (tasks, gate) = (BackgroundTasks(limit: 2), gate)
        let work = try XCTUnwrap(tasks.start(Self.refresh("a")) { try await gate.pass() })
        await gate.hasBeenReached()
        // When the server ends
        await tasks.shutdown()
        // Then the task has ended, and no task starts
        let result = await work.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError) }
        XCTAssertEqual(tasks.underWay, 0)
        XCTAssertNil(tasks.start(Self.refresh("b")) {})
    }

    private static func refresh(_ name: String) -> BackgroundTasks.Purpose { .refresh(CacheKey(.variant, name)) }
}
