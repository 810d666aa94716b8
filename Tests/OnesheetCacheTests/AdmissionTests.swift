import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetCache

/// The admission of entries to a full disk.
final class AdmissionTests: XCTestCase {
    private let clock = ManualClock()
    /// Ten entries of 20 KiB fill the disk.
    private let budgets = DiskBudgets(original: 10 * 20_480, variant: 40_960, metadata: 40_960)

    func testThatAScanOfOriginalsLeavesWhatIsAskedForAgainAndAgain() async throws {
        // Given originals that are requested again and again, and fill the disk
        let tier = try tier()
        let hot = (0..<10).map { original("hot \($0)") }
        for key in hot { try await tier.store(entry(), for: key) }
        // When ten thousand others are requested once each, with a popular one now and then
        var (hits, asked) = (0, 0)
        for number in 0..<10_000 {
            try await ask(tier, original("once \(number)"))
            guard number % 10 == 0 else { continue }
            asked += 1
            if try await ask(tier, hot[number / 10 % 10]) { hits += 1 }
        }
        // Then the popular ones are always found, and none was stored or removed
        let figures = try await tier.statistics().total
        XCTAssertEqual(hits, asked)
        XCTAssertEqual(figures.stores, 10)
        XCTAssertEqual(figures.evictions, ["asked for once": 10_000])
        try await tier.close()
    }

    func testThatWhatIsAskedForTwiceIsTaken() async throws {
        // Given a full disk
        let tier = try tier()
        for number in 0..<10 { try await tier.store(entry(), for: original("\(number)")) }
        // When a new entry is requested twice
        let key = original("new")
        try await ask(tier, key)
        let isThereAfterTheFirst = try await tier.contains(key)
        try await ask(tier, key)
        // Then it is stored the second time
        XCTAssertFalse(isThereAfterTheFirst)
        let isThere = try await tier.contains(key)
        XCTAssertTrue(isThere)
        try await tier.close()
    }

    func testThatAPrefetchIsTakenAtOnceAndSoIsMetadata() async throws {
        // Given a full disk
        let tier = try tier()
        for number in 0..<10 { try await tier.store(entry(), for: original("\(number)")) }
        for number in 0..<3 { try await tier.store(entry(), for: CacheKey(.metadata, "\(number)")) }
        // When a prefetch stores an original, and a request stores metadata
        try await WorkContext.with({ $0.urgency = .prefetch }) { try await tier.store(entry(), for: original("ordered")) }
        try await tier.store(entry(), for: CacheKey(.metadata, "answer"))
        // Then both are found
        let isThere = try await (tier.contains(original("ordered")), tier.contains(CacheKey(.metadata, "answer")))
        XCTAssertTrue(isThere.0)
        XCTAssertTrue(isThere.1)
        try await tier.close()
    }

    func testThatWhatIsThereIsReplacedOnAFullDiskAfterARestart() async throws {
        // Given a full disk and a new process without a history
        let path = try temporaryDirectory().path
        let first = try tier(path)
        for number in 0..<10 { try await first.store(entry(), for: original("\(number)")) }
        try await first.close()
        let tier = try tier(path)
        // When an existing entry is stored again
        try await tier.store(entry(2), for: original("3"))
        // Then it replaces the stored one
        let found = try await tier.entry(for: original("3"))
        XCTAssertEqual(found?.body, entry(2).body)
        try await tier.close()
    }

    func testThatWhatWasThereBeforeIsTakenAgain() async throws {
        // Given an original that was evicted from a full disk
        let tier = try tier()
        for number in 0..<10 { try await tier.store(entry(), for: original("\(number)")) }
        try await tier.remove(original("0"))
        try await tier.store(entry(), for: original("other"))
        // When it is stored again
        try await tier.store(entry(2), for: original("0"))
        // Then it is admitted, because it came before
        let found = try await tier.entry(for: original("0"))
        XCTAssertEqual(found?.body, entry(2).body)
        try await tier.close()
    }

    func testThatTheMemoryOfNamesIsBoundedAndSeldomWrong() {
        // Given a hundred thousand names that came once
        var filter = SecondHitFilter()
        let names = (0..<100_000).map { CacheKey(.original, "\($0)").entryName }
        // When each comes for the first and for the second time
        let wrong = names.count { filter.note($0) }
        let known = names.suffix(20_000).count { filter.note($0) }
        // Then almost none counts as another, and the newest are remembered
        XCTAssertLessThan(wrong, 50)
        XCTAssertGreaterThan(known, 19_000)
    }

    private func original(_ text: String) -> CacheKey { CacheKey(.original, text) }

    private func entry(_ byte: UInt8 = 1) -> CacheEntry { .sample(ByteBuffer(repeating: byte, count: 18_000), at: clock) }

    /// Requests like the pipeline: a missing entry is made and stored.
    /// - Returns: whether the entry was found.
    @discardableResult
    private func ask(_ tier: DiskTier, _ key: CacheKey) async throws -> Bool {
        if try await tier.entry(for: key) != nil { return true }
        try await tier.store(entry(), for: key)
        return false
    }

    private func tier(_ path: String? = nil) throws -> DiskTier {
        try DiskTier(
            path: path ?? temporaryDirectory().path, budgets: budgets, minimumFreeSpace: .bytes(0), isSynced: false,
            clock: clock.wallClock)
    }
}
