import FoundationEssentials
import OnesheetCore
import OnesheetTesting
import XCTest

final class ExhaustedQuotaTests: XCTestCase {
    private let seoul = 32_400
    // 2026-11-21 12:00 UTC is 21:00 in Seoul; the quota resets at 15:00 UTC.
    private let midnight = 1_795_273_200.0

    func testThatAnExhaustedQuotaAllowsNoCallUntilMidnightOfTheService() async throws {
        // Given
        let clock = ManualClock()
        let quota = DailyQuota(secondsFromGMT: seoul, context: .forTesting(clock: clock))
        try await quota.spend()

        // When
        let error = await quota.exhaust()

        // Then
        XCTAssertEqual(error, .quotaExhausted(until: midnight))
        await assertThrows(.quotaExhausted(until: midnight)) { () async throws(SourceError) in try await quota.spend() }
        clock.advance(by: .seconds(3 * 3600 - 1))
        await assertThrows(.quotaExhausted(until: midnight)) { () async throws(SourceError) in try await quota.spend() }
        clock.advance(by: .seconds(1))
        try await quota.spend()
    }

    func testThatItStaysExhaustedAfterARestart() async throws {
        // Given
        let state = InMemoryState()
        _ = await DailyQuota(secondsFromGMT: seoul, context: .forTesting(state: state)).exhaust()

        // When
        let quota = DailyQuota(secondsFromGMT: seoul, context: .forTesting(state: state))

        // Then
        await assertThrows(.quotaExhausted(until: midnight)) { () async throws(SourceError) in try await quota.spend() }
        try await DailyQuota(name: "other", secondsFromGMT: seoul, context: .forTesting(state: state)).spend()
    }

    func testThatABrokenStateStopsNobody() async throws {
        // Given
        let state = InMemoryState()
        state.fail("disk full")
        let quota = DailyQuota(secondsFromGMT: seoul, context: .forTesting(state: state))

        // When
        let error = await quota.exhaust()

        // Then
        XCTAssertEqual(error, .quotaExhausted(until: midnight))
        try await quota.spend()
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
