import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetCache

/// Entries that the disk tier stores behind answers, many at once.
final class StoreQueueTests: XCTestCase {
    private let clock = ManualClock()

    func testThatAnEntryIsFoundFromTheMomentThatItIsTaken() async throws {
        // Given a tier
        let folder = try temporaryDirectory().path
        let tier = try await tier(folder)
        let (key, outcomes) = (CacheKey(.variant, "a"), Outcomes())
        // When it takes an entry for later
        XCTAssertEqual(tier.storeLater(entry(1), for: key, ifGeneration: nil, report: outcomes.note), .taken)
        // Then every lookup finds it although it is not in the folder
        XCTAssertEqual(try CacheFolder(folder).entryFiles().count, 0)
        XCTAssertEqual(tier.entryNow(for: key, reading: 0).entry?.entry.body, entry(1).body)
        let (found, isThere) = try await (tier.entry(for: key), tier.contains(key))
        XCTAssertEqual(found?.body, entry(1).body)
        XCTAssertTrue(isThere)
        // And the counts include it, because they wait until it is stored
        let figures = try await tier.statistics().total
        XCTAssertEqual(figures.entries, 1)
        XCTAssertEqual(figures.stores, 1)
        XCTAssertEqual(try CacheFolder(folder).entryFiles().count, 1)
        XCTAssertEqual(outcomes.all, [.success(true)])
        try await tier.close()
    }

    func testThatTheEntriesOfABatchAreStoredUnlessOneIsTooLargeOrHasExpired() async throws {
        // Given a tier with little room, and entries of which one has expired and one is too large
        let folder = try temporaryDirectory().path
        let tier = try await tier(folder, budgets: DiskBudgets(original: 65_536, variant: 655_360, metadata: 65_536))
        let outcomes = Outcomes()
        var expired = entry(1)
        expired.expires = clock.now
        for number in 0..<40 {
            XCTAssertEqual(
                tier.storeLater(entry(1), for: CacheKey(.variant, "\(number)"), ifGeneration: nil, report: outcomes.note), .taken)
        }
        XCTAssertEqual(
            tier.storeLater(expired, for: CacheKey(.variant, "expired"), ifGeneration: nil, report: outcomes.note), .taken)
        XCTAssertEqual(
            tier.storeLater(entry(1, count: 60_000), for: CacheKey(.original, "large"), ifGeneration: nil, report: outcomes.note),
            .taken)
        // When all are stored
        try await tier.close()
        // Then another tier finds the others
        let other = try await self.tier(folder)
        for number in 0..<40 {
            let isThere = try await other.contains(CacheKey(.variant, "\(number)"))
            XCTAssertTrue(isThere, "\(number)")
        }
        let isThere = try await (other.contains(CacheKey(.variant, "expired")), other.contains(CacheKey(.original, "large")))
        XCTAssertFalse(isThere.0)
        XCTAssertFalse(isThere.1)
        XCTAssertEqual(outcomes.all, [Result<Bool, CacheError>](repeating: .success(true), count: 42))
        try await other.close()
    }

    func testThatRemovedEntriesAreNotStoredAfterwards() async throws {
        // Given entries that wait
        let folder = try temporaryDirectory().path
        let tier = try await tier(folder)
        let keys = (0..<4).map { CacheKey(.variant, "\($0)") }
        for key in keys { XCTAssertEqual(tier.storeLater(entry(1), for: key, ifGeneration: nil) { _ in }, .taken) }
        // When one is removed by its key, and then all are
        try await tier.remove(keys[0])
        let isFirstThere = try await tier.contains(keys[0])
        let removal = try await tier.remove(.all)
        // Then none is found, now or later
        XCTAssertFalse(isFirstThere)
        XCTAssertEqual(removal.entries, 3)
        try await tier.close()
        XCTAssertEqual(try CacheFolder(folder).entryFiles().count, 0)
    }

    func testThatARemovalWritesNothing() async throws {
        // Given entries that wait, one of which is to replace one in the folder. A writer that has just stored one takes the next at once.
        let folder = try temporaryDirectory().path
        let (key, other, outcomes) = (CacheKey(.variant, "a"), CacheKey(.variant, "b"), Outcomes())
        let before = try await self.tier(folder)
        try await before.store(entry(1), for: key)
        try await before.close()
        let tier = try await self.tier(folder)
        XCTAssertEqual(
            tier.storeLater(entry(2, tags: [.source("one")]), for: key, ifGeneration: nil, report: outcomes.note), .taken)
        XCTAssertEqual(tier.storeLater(entry(3), for: other, ifGeneration: nil) { _ in }, .taken)
        // When it is removed by its tag
        let removal = try await tier.remove(.tag(.source("one")))
        // Then neither it nor the one before is found, and the other still waits
        XCTAssertEqual(removal.entries, 1)
        XCTAssertEqual(outcomes.all, [.success(true)])
        let isThere = try await tier.contains(key)
        XCTAssertFalse(isThere)
        XCTAssertEqual(try CacheFolder(folder).entryFiles().count, 0)
        XCTAssertEqual(tier.entryNow(for: other, reading: 0).entry?.entry.body, entry(3).body)
        try await tier.close()
        XCTAssertEqual(try CacheFolder(folder).entryFiles().count, 1)
    }

    func testThatANewGenerationDropsWhatWaits() async throws {
        let folder = try temporaryDirectory().path
        let tier = try await tier(folder)
        let (key, outcomes) = (CacheKey(.variant, "a"), Outcomes())
        XCTAssertEqual(tier.storeLater(entry(1), for: key, ifGeneration: nil, report: outcomes.note), .taken)

        _ = try await tier.raiseGeneration()

        XCTAssertEqual(outcomes.all, [.success(false)])
        let isThere = try await tier.contains(key)
        XCTAssertFalse(isThere)
        try await tier.close()
        XCTAssertEqual(try CacheFolder(folder).entryFiles().count, 0)
    }

    func testThatAPurgeKeepsWhatWaitedAndDoesNotMatch() async throws {
        // Given entries that wait
        let folder = try temporaryDirectory().path
        let tier = try await tier(folder)
        let cache = Cache(memory: MemoryTier(clock: clock.wallClock), disk: tier, logger: .silent)
        let generation = await cache.generation()
        for name in ["one", "two"] {
            await cache.store(entry(1, tags: [.source(name)]), for: CacheKey(.variant, name), ifGeneration: generation)
        }
        XCTAssertEqual(try CacheFolder(folder).entryFiles().count, 0)
        // When those of one source are purged
        let removal = try await cache.purge([.tag(.source("one"))]).removal
        // Then the other is in the folder
        XCTAssertEqual(removal.entries, 1)
        let areThere = try await (tier.contains(CacheKey(.variant, "one")), tier.contains(CacheKey(.variant, "two")))
        XCTAssertFalse(areThere.0)
        XCTAssertTrue(areThere.1)
        XCTAssertEqual(try CacheFolder(folder).entryFiles().count, 1)
        try await tier.close()
    }

    func testThatAPurgeByAnotherProcessRefusesWhatWaits() async throws {
        // Given an entry that waits, and another process with the folder
        let folder = try temporaryDirectory().path
        let (tier, other) = try await (tier(folder), tier(folder))
        let (key, outcomes) = (CacheKey(.variant, "a"), Outcomes())
        let generation = try await tier.generation()
        XCTAssertEqual(tier.storeLater(entry(1), for: key, ifGeneration: generation, report: outcomes.note), .taken)
        // When the other process purges before it is stored
        _ = try await other.raiseGeneration()
        try await tier.close()
        // Then it is not stored, and the caller is told
        XCTAssertEqual(outcomes.all, [.success(false)])
        XCTAssertEqual(try CacheFolder(folder).entryFiles().count, 0)
        try await other.close()
    }

    func testThatOfTwoEntriesTheLaterIsStored() async throws {
        // Given two entries under one key, the first of which waits
        let tier = try await tier(temporaryDirectory().path)
        let (key, outcomes) = (CacheKey(.variant, "a"), Outcomes())
        XCTAssertEqual(tier.storeLater(entry(1), for: key, ifGeneration: nil, report: outcomes.note), .taken)
        XCTAssertEqual(tier.storeLater(entry(2), for: key, ifGeneration: nil, report: outcomes.note), .taken)
        // When a third one is stored at once
        try await tier.store(entry(3), for: key)
        // Then it is found, and both callers were told
        let found = try await tier.entry(for: key)
        XCTAssertEqual(found?.body, entry(3).body)
        XCTAssertEqual(outcomes.all, [.success(true), .success(true)])
        let figures = try await tier.statistics().total
        XCTAssertEqual(figures.entries, 1)
        try await tier.close()
    }

    func testThatTheQueueIsBoundedAndClosed() async throws {
        // Given a tier
        let tier = try await tier(temporaryDirectory().path)
        // When more bytes are to wait than may
        var taken = 0
        let large = entry(1, count: 1 << 20)
        for number in 0..<64
        where tier.storeLater(large, for: CacheKey(.original, "\(number)"), ifGeneration: nil, report: { _ in }) == .taken {
            taken += 1
        }
        // Then the rest is refused, and after the end everything
        XCTAssertLessThan(taken, 64)
        XCTAssertGreaterThanOrEqual(taken, DiskSettings.queueBytes >> 20)
        try await tier.close()
        XCTAssertEqual(tier.storeLater(entry(1), for: CacheKey(.variant, "a"), ifGeneration: nil) { _ in }, .full)
    }

    func testThatAFailureIsReported() async throws {
        // Given a tier whose folder another program has taken
        let folder = try temporaryDirectory().path
        let tier = try await tier(folder)
        let outcomes = Outcomes()
        // The tier may still tidy up in it, which makes a removal fail.
        try await waitUntil {
            try? FileManager.default.removeItem(atPath: folder)
            return !FileManager.default.fileExists(atPath: folder)
        }
        try Data().write(to: URL(filePath: folder))
        // When it stores two entries behind answers
        for name in ["a", "b"] {
            XCTAssertEqual(
                tier.storeLater(entry(1), for: CacheKey(.variant, name), ifGeneration: nil, report: outcomes.note), .taken)
        }
        do { try await tier.close() } catch { /* The folder is gone. */  }
        // Then both fail
        XCTAssertEqual(outcomes.all.count, 2)
        for outcome in outcomes.all { XCTAssertThrowsError(try outcome.get()) }
    }

    private func entry(_ byte: UInt8, count: Int = 5000, tags: [CacheTag] = []) -> CacheEntry {
        .sample(ByteBuffer(repeating: byte, count: count), at: clock, tags: tags)
    }

    private func tier(_ path: String, budgets: DiskBudgets = DiskBudgets(bytes: 1 << 30)) async throws -> DiskTier {
        let tier = try DiskTier(
            path: path, budgets: budgets, minimumFreeSpace: .bytes(0), isSynced: false, batchDelay: .seconds(60),
            clock: clock.wallClock)
        // It takes entries only if it knows the generation.
        await tier.follow(try await tier.generation(), readAfter: tier.raises)
        return tier
    }
}

/// The reported outcomes, in order.
private final class Outcomes: Sendable {
    private let outcomes = Mutex<[Result<Bool, CacheError>]>([])

    var all: [Result<Bool, CacheError>] { outcomes.withLock { $0 } }

    @Sendable func note(_ outcome: Result<Bool, CacheError>) { outcomes.withLock { $0.append(outcome) } }
}
