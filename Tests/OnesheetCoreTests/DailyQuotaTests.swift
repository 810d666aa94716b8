import FoundationEssentials
import OnesheetCore
import OnesheetTesting
import XCTest

final class DailyQuotaTests: XCTestCase {
    private let clock = ManualClock()
    private let state = InMemoryState()
    private let seoul = 32_400
    // 2026-11-21 12:00 UTC is 21:00 in Seoul; the quota resets at 15:00 UTC.
    private let midnight = 1_795_273_200.0

    func testThatPrefetchingStopsAtTheReserveAndPeopleDoNot() async throws {
        // Given twenty calls a day with a reserve of two
        let quota = quota(20)
        // When prefetching makes all calls that it can
        let prefetched = await Self.spend(quota, as: .prefetch)
        let asked = await Self.spend(quota, as: .interactive)
        // Then interactive calls have the rest
        XCTAssertEqual(prefetched, 18)
        XCTAssertEqual(asked, 2)
    }

    func testThatTheEndOfTheDayNamesTheNextResetWhichComes() async throws {
        // Given an exhausted quota
        let quota = quota(3)
        _ = await Self.spend(quota, as: .interactive)
        // When one more call is made, before and after midnight in Seoul
        clock.now = Date(timeIntervalSince1970: midnight - 1)
        let before = await Self.error(quota)
        clock.now = Date(timeIntervalSince1970: midnight)
        let after = await Self.error(quota)
        // Then the error names the reset, and the second succeeds
        XCTAssertEqual(before, .quotaExhausted(until: midnight))
        XCTAssertNil(after)
    }

    func testClockThatWasAheadStopsNoQuota() async throws {
        // Given a quota that was exhausted while the clock was ten days ahead
        let quota = quota(3)
        clock.advance(by: .seconds(864_000))
        _ = await quota.exhaust()
        let ahead = await Self.error(quota)
        // When the clock is right again
        clock.advance(by: .seconds(-864_000))
        // Then calls are made, and the report says so
        let after = await Self.error(quota)
        let report = await quota.report()
        XCTAssertNotNil(ahead)
        XCTAssertNil(after)
        XCTAssertFalse(report.isExhausted)
    }

    func testThatTheCountSurvivesARestart() async {
        // Given two of three calls made before a restart
        let first = quota(3)
        for _ in 0..<2 { _ = await Self.error(first) }
        // When calls are made afterwards
        let rest = await Self.spend(quota(3), as: .interactive)
        // Then one is left
        XCTAssertEqual(rest, 1)
    }

    func testThatAHundredAtOnceGetNoMoreThanThereAre() async {
        // Given ten calls
        let quota = quota(10)
        // When a hundred calls are made concurrently
        let passed = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { await Self.error(quota) == nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        // Then ten succeed
        XCTAssertEqual(passed, 10)
    }

    func testThatTheUnknownHasAShareAndLeavesTheRest() async {
        // Given a thousand calls, half of which are for unknown titles, a quarter of these at once
        let quota = quota(1000)
        // When unknown titles use up their share, and then known ones are requested
        let error = await Self.spendUnknown(quota)
        let rest = await Self.spend(quota, as: .interactive)
        // Then the error names a time today, and the other calls are available
        XCTAssertEqual(error.count, 125)
        guard case .quotaExhausted(let until?)? = error.error else { return XCTFail("\(String(describing: error.error))") }
        XCTAssertEqual(until, clock.now.timeIntervalSince1970 + 86_400 / 375, accuracy: 0.01)
        XCTAssertEqual(rest, 875)
    }

    func testThatTheShareSurvivesARestartAndFillsAgain() async {
        // Given an exhausted share
        _ = await Self.spendUnknown(quota(1000))
        // When the server restarts, at once and six hours later
        let atOnce = await Self.spendUnknown(quota(1000)).count
        clock.advance(by: .seconds(21_600))
        let later = await Self.spendUnknown(quota(1000)).count
        // Then no call is left at first, and a part of the share later
        XCTAssertEqual(atOnce, 0)
        XCTAssertEqual(later, 93)
    }

    func testThatAShareOfOneIsNoLimitAndPrefetchingHasNone() async {
        // Given a quota without a limit for unknown titles, and one with a limit
        let settings = QuotaSettings(perDay: 40, unknown: 1)
        let free = DailyQuota(settings, name: "free", secondsFromGMT: seoul, context: .forTesting(clock: clock, state: state))
        let count = await Self.spendUnknown(free).count
        let prefetched = await WorkContext.with({ $0.familiarity = .unknown }) { await Self.spend(quota(20), as: .prefetch) }
        XCTAssertEqual(count, 40)
        XCTAssertEqual(prefetched, 18)
    }

    func testThatAHundredStrangersAtOnceGetNoMoreThanThereAre() async {
        // Given a share that allows ten at once
        let quota = quota(80)
        // When a hundred calls are made concurrently
        let passed = await WorkContext.with({ $0.familiarity = .unknown }) {
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 { group.addTask { await Self.error(quota) == nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
        }
        // Then ten succeed, and ten are counted
        XCTAssertEqual(passed, 10)
        XCTAssertEqual(state.values["quota.calls"]?.split(separator: " ").last, "10")
    }

    func testOneClientLeavesHalfToOthers() async {
        // Given a share that allows a hundred at once
        let quota = quota(800)
        // When one client takes what it gets, many at the same time
        let first = await WorkContext.with({ $0.familiarity = .unknown }) {
            await WorkContext.with({ $0.clients = FlightClients([ClientKey([1])]) }) {
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<200 { group.addTask { await Self.error(quota) == nil } }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
            }
        }
        // Then half is left, of which a second one gets half, and others theirs
        XCTAssertEqual(first, 50)
        var others: [Int] = []
        for client in 2...4 as ClosedRange<UInt8> { others.append(await Self.spendUnknown(quota, for: client)) }
        XCTAssertEqual(others, [25, 13, 6])
        // And when calls come free again, the first one does not take those that others have not used
        clock.advance(by: .seconds(86_400 / 30))
        let (again, modest) = (await Self.spendUnknown(quota, for: 1), await Self.spendUnknown(quota, for: 5))
        XCTAssertEqual(again, 0)
        XCTAssertGreaterThan(modest, 2)
    }

    func testClientIsToldWhenItMayAskAgain() async {
        // Given a client that has used its part of ten calls
        let quota = quota(80)
        let count = await Self.spendUnknown(quota, for: 1)
        XCTAssertEqual(count, 5)
        // When it asks again, then it is told a time, and gets a call then
        let start = clock.now.timeIntervalSince1970
        let error = await WorkContext.with({ $0.familiarity = .unknown }) {
            await WorkContext.with({ $0.clients = FlightClients([ClientKey([1])]) }) { await Self.error(quota) }
        }
        XCTAssertEqual(error, .quotaExhausted(until: start + 1))
        clock.advance(by: .seconds(1))
        let more = await Self.spendUnknown(quota, for: 1)
        XCTAssertEqual(more, 1)
    }

    func testThatTwoQuotasOnOneStateSpendNoCallTwice() async {
        // Given two processes with one state
        let (one, other) = (quota(50), quota(50))
        // When both make all calls that they can concurrently
        async let first = Self.spend(one, as: .interactive)
        async let second = Self.spend(other, as: .interactive)
        let sum = await first + second
        // Then they make the day's calls together
        XCTAssertEqual(sum, 50)
    }

    func testThatTheShareHoldsWhereNothingCanBeKept() async {
        state.fail("the disk is full")
        let count = await Self.spendUnknown(quota(1000)).count
        XCTAssertEqual(count, 125)
    }

    func testThatACountThatCannotBeKeptCostsNoCall() async {
        state.fail("the disk is full")
        let spent = await Self.spend(quota(3), as: .interactive)
        XCTAssertEqual(spent, 3)
    }

    func testThatAShareOutsideOfOneIsRefused() {
        for (values, words) in [
            (["perDay": ConfigurationValue.scalar("0")], "perDay: needs a number from 1"),
            (["perDay": .scalar("9"), "reserve": .scalar("1.5")], "reserve: needs a share from 0 to 1, such as 0.1"),
            (["perDay": .scalar("9"), "unknown": .scalar("-1")], "unknown: needs a share from 0 to 1, such as 0.1"),
        ] {
            XCTAssertThrowsError(try ConfigurationDecoder().decode(QuotaSettings.self, from: .mapping(values))) {
                XCTAssertEqual("\($0)", words)
            }
        }
    }

    private func quota(_ perDay: Int) -> DailyQuota {
        DailyQuota(QuotaSettings(perDay: perDay), secondsFromGMT: seoul, context: .forTesting(clock: clock, state: state))
    }

    /// The calls that remain for this urgency.
    private static func spend(_ quota: DailyQuota, as urgency: Urgency) async -> Int {
        await WorkContext.with({ $0.urgency = urgency }) {
            var count = 0
            while await Self.error(quota) == nil { count += 1 }
            return count
        }
    }

    /// The calls that remain for unknown titles, and the final error.
    private static func spendUnknown(_ quota: DailyQuota) async -> (count: Int, error: SourceError?) {
        await WorkContext.with({ $0.familiarity = .unknown }) {
            var count = 0
            while true {
                if let error = await Self.error(quota) { return (count, error) }
                count += 1
            }
        }
    }

    /// The calls that `client` gets for unknown titles.
    private static func spendUnknown(_ quota: DailyQuota, for client: UInt8) async -> Int {
        await WorkContext.with({ $0.clients = FlightClients([ClientKey([client])]) }) { await spendUnknown(quota).count }
    }

    private static func error(_ quota: DailyQuota) async -> SourceError? {
        do throws(SourceError) {
            try await quota.spend()
            return nil
        } catch {
            return error
        }
    }
}
