import FoundationEssentials
import OnesheetCore
import OnesheetTesting
import XCTest

final class QuotaWallTests: XCTestCase {
    private let seoul = 32_400
    // 2026-11-21 12:00 UTC is 21:00 in Seoul; the budget fills at 15:00 UTC.
    private let midnight = 1_795_273_200.0

    func testThatAClosedWallLetsNobodyPassUntilMidnightOfTheService() async throws {
        // Given
        let clock = ManualClock()
        let wall = QuotaWall(context: .forTesting(clock: clock), secondsFromGMT: seoul)
        try await wall.check()

        // When
        let error = await wall.close()

        // Then
        XCTAssertEqual(error, .quotaExhausted(until: midnight))
        await assertThrows(.quotaExhausted(until: midnight)) { () async throws(SourceError) in try await wall.check() }
        clock.advance(by: .seconds(3 * 3600 - 1))
        await assertThrows(.quotaExhausted(until: midnight)) { () async throws(SourceError) in try await wall.check() }
        clock.advance(by: .seconds(1))
        try await wall.check()
    }

    func testThatTheWallStandsAfterARestart() async throws {
        // Given
        let state = InMemoryState()
        _ = await QuotaWall(context: .forTesting(state: state), secondsFromGMT: seoul).close()

        // When
        let wall = QuotaWall(context: .forTesting(state: state), secondsFromGMT: seoul)

        // Then
        await assertThrows(.quotaExhausted(until: midnight)) { () async throws(SourceError) in try await wall.check() }
        try await QuotaWall("other", context: .forTesting(state: state), secondsFromGMT: seoul).check()
    }

    func testThatABrokenStateStopsNobody() async throws {
        // Given
        let state = InMemoryState()
        state.fail("disk full")
        let wall = QuotaWall(context: .forTesting(state: state), secondsFromGMT: seoul)

        // When
        let error = await wall.close()

        // Then
        XCTAssertEqual(error, .quotaExhausted(until: midnight))
        try await wall.check()
    }

    private func assertThrows(
        _ expected: SourceError, line: UInt = #line, _ body: () async throws(SourceError) -> Void
    ) async {
        do {
            try await body()
            XCTFail("nothing was thrown", line: line)
        } catch {
            XCTAssertEqual(error, expected, line: line)
        }
    }
}
