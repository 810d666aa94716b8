import OnesheetTesting
import XCTest

final class GateTests: XCTestCase {
    func testThatAnOpenGateLetsEverybodyThrough() async throws {
        // Given
        let gate = Gate()
        gate.open()

        // When
        try await gate.pass()
        try await gate.pass()

        // Then
        XCTAssertEqual(gate.arrived, 2)
    }

    func testThatAllWhoWaitGoOnWhenItOpens() async throws {
        // Given
        let gate = Gate()
        let tasks = (0..<5).map { _ in Task { try await gate.pass() } }
        await gate.hasBeenReached(by: 5)

        // When
        gate.open()

        // Then
        for task in tasks { try await task.value }
    }

    func testThatACancelledTaskWaitsNoLonger() async {
        // Given
        let gate = Gate()
        let waiting = Task { try await gate.pass() }
        await gate.hasBeenReached()

        // When
        waiting.cancel()
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await gate.pass()
        }

        // Then
        for result in [await waiting.result, await late.result] {
            XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError) }
        }
    }
}
