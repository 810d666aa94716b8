import NIOCore
@testable import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

final class MemoryTierTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatALookUpAnswersWithTheVeryBufferThatWasStored() {
        let tier = MemoryTier(clock: clock.wallClock)
        let entry = CacheEntry.sample(ByteBuffer(repeating: 7, count: 4096), at: clock)
        tier.storeNow(entry, for: key)

        let found = tier.entryNow(for: key)

        let stored = entry.body.withUnsafeReadableBytes { $0.baseAddress }
        XCTAssertEqual(found?.body.withUnsafeReadableBytes { $0.baseAddress }, stored)
    }

    func testThatTheBytesNeverExceedTheBudget() async {
        let tier = MemoryTier(bytes: 100_000, clock: clock.wallClock)

        for number in 0..<500 {
            tier.storeNow(
                .sample(ByteBuffer(repeating: 1, count: 10 * number % 4000), at: clock), for: CacheKey(.variant, "\(number)"))
            let bytes = await tier.statistics().total.bytes
            XCTAssertLessThanOrEqual(bytes, 100_000)
        }

        let figures = await tier.statistics().total
        XCTAssertGreaterThan(figures.bytes, 90_000)
        XCTAssertEqual(figures.entries + (figures.evictions["room"] ?? 0), 500)
    }

    func testThatTheCountNeverExceedsItsLimit() async {
        let tier = MemoryTier(entries: 10, clock: clock.wallClock)

        for number in 0..<100 { tier.storeNow(.sample(at: clock), for: CacheKey(.variant, "\(number)")) }

        let entries = await tier.statistics().total.entries
        XCTAssertEqual(entries, 10)
    }

    func testThatAnEntryOverATenthOfTheBudgetIsRefusedAndReplacesNothingElse() async {
        let tier = MemoryTier(bytes: 100_000, clock: clock.wallClock)
        tier.storeNow(.sample("small", at: clock), for: CacheKey(.variant, "other"))
        tier.storeNow(.sample("old", at: clock), for: key)

        tier.storeNow(.sample(ByteBuffer(repeating: 1, count: 10_001), at: clock), for: key)

        XCTAssertNil(tier.entryNow(for: key), "neither the new entry nor the old one may be served")
        XCTAssertNotNil(tier.entryNow(for: CacheKey(.variant, "other")))
        let figures = await tier.statistics().total
        XCTAssertEqual(figures.evictions, ["too large": 1])
    }

    func testThatASmallPartOfALargeBufferDoesNotKeepTheLargeOneAlive() async {
        let tier = MemoryTier(bytes: 1 << 20, clock: clock.wallClock)
        let large = ByteBuffer(repeating: 1, count: 1 << 20)

        tier.storeNow(.sample(large.getSlice(at: 0, length: 1000)!, at: clock), for: key)

        XCTAssertEqual(tier.entryNow(for: key)?.body.readableBytes, 1000)
        let bytes = await tier.statistics().total.bytes
        XCTAssertLessThan(bytes, 4000)
    }

    func testThatASweepRemovesWhatHasExpiredAndNothingElse() async {
        let tier = MemoryTier(clock: clock.wallClock)
        for number in 0..<1000 {
            tier.storeNow(
                .sample(at: clock, cacheTime: .seconds(number.isMultiple(of: 4) ? 10 : 100)), for: CacheKey(.variant, "\(number)"))
        }
        clock.advance(by: .seconds(10))

        tier.sweep()

        let figures = await tier.statistics().total
        XCTAssertEqual(figures.entries, 750)
        XCTAssertEqual(figures.evictions, ["expired": 250])
    }

    func testThatUnreadEntriesStayFiveMinutesWhenNothingElseIsSaid() {
        let tier = MemoryTier(clock: clock.wallClock)
        tier.storeNow(.sample(at: clock, cacheTime: .days(7)), for: key)
        clock.advance(by: .seconds(299))

        XCTAssertNotNil(tier.entryNow(for: key))
        clock.advance(by: .seconds(1))
        XCTAssertNil(tier.entryNow(for: key))
    }

    func testThatAnEntryKeepsItsOwnTimeInATierThatKeepsItForLess() {
        let tier = MemoryTier(clock: clock.wallClock)
        let entry = CacheEntry.sample(at: clock, cacheTime: .days(7))

        tier.storeNow(entry, for: key)

        XCTAssertEqual(tier.entryNow(for: key)?.expires, entry.expires)
    }

    func testThatAPromotionBegunBeforeARemovalIsRefused() async {
        let removals: [(String, (MemoryTier) async -> Void)] = [
            ("of the key", { await $0.remove(self.key) }),
            ("of a tag", { _ = await $0.remove(.tag(.source("sample"))) }),
            ("of all", { _ = await $0.remove(.all) }),
        ]

        for (which, remove) in removals {
            let tier = MemoryTier(clock: clock.wallClock)
            let mark = tier.promotionMark(for: key)
            await remove(tier)
            tier.promote(.sample("stale", at: clock), for: key, since: mark)
            XCTAssertNil(tier.entryNow(for: key), which)
        }
    }

    func testThatAPromotionBegunBeforeAStoreDoesNotReplaceWhatWasStored() {
        let tier = MemoryTier(clock: clock.wallClock)
        let mark = tier.promotionMark(for: key)
        tier.storeNow(.sample("new", at: clock), for: key)

        tier.promote(.sample("old", at: clock), for: key, since: mark)

        XCTAssertEqual(tier.entryNow(for: key)?.body, ByteBuffer(string: "new"))
    }
}
