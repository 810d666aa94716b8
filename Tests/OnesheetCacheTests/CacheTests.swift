import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

final class CacheTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatWhatOnlyTheDiskHasIsPromotedIntoMemory() async throws {
        let disk = try disk()
        let cache = cache(disk)
        try await disk.store(.sample("kept", at: clock), for: key)

        let first = await cache.entry(for: key)
        let second = await cache.entry(for: key)

        XCTAssertEqual([first?.tier, second?.tier], ["disk", "memory"])
        XCTAssertEqual(second?.entry, .sample("kept", at: clock))
        XCTAssertEqual(cache.lookUp(key).hit?.tier, "memory")
        try await disk.close()
    }

    func testThatALookUpOnAnEventLoopTakesASmallFileFromThePageCache() async throws {
        let disk = try disk()
        let cache = cache(disk)
        let large = CacheKey(.variant, "large")
        try await disk.store(.sample(at: clock), for: key)
        try await disk.store(.sample(String(repeating: "x", count: 128 << 10), at: clock), for: large)

        let first = cache.lookUp(key).hit

        XCTAssertEqual(first?.tier, "disk")
        XCTAssertEqual(first?.entry, .sample(at: clock))
        XCTAssertEqual(cache.lookUp(key).hit?.tier, "memory")
        XCTAssertNil(cache.lookUp(large).hit, "reading much is for other threads, and nobody has checked it yet")
        XCTAssertNil(cache.lookUp(CacheKey(.variant, "unknown")).hit)
        clock.advance(by: .seconds(86_400 * 365))
        XCTAssertNil(disk.entryNow(for: key, reading: 1 << 20).entry, "it has expired")
        try await disk.close()
    }

    func testThatAHitThatHardlyProlongsALifeNeedsNoThread() async throws {
        // Given a tier in which hits prolong lives, and an entry that is a day old
        let disk = try DiskTier(
            path: temporaryDirectory().path, expires: .days(7), extending: .newExpiration(.days(7)), isSynced: false,
            clock: clock.wallClock)
        try await disk.store(.sample(at: clock), for: key)
        clock.advance(by: .seconds(86_400))
        // When it is looked up on an event loop, then its new end is not written there
        XCTAssertNil(disk.entryNow(for: key, reading: 1 << 20).entry)
        // But after a hit that has written it, for a hundredth of its life
        _ = try await disk.entry(for: key)
        XCTAssertNotNil(disk.entryNow(for: key, reading: 1 << 20).entry)
        clock.advance(by: .seconds(3_600))
        XCTAssertNotNil(disk.entryNow(for: key, reading: 1 << 20).entry)
        clock.advance(by: .seconds(3_600))
        XCTAssertNil(disk.entryNow(for: key, reading: 1 << 20).entry)
        try await disk.close()
    }

    func testThatAMissOnTheDiskIsCountedOnce() async throws {
        // Given a disk without the entry
        let disk = try disk()
        let cache = cache(disk)

        // When it is looked up without waiting, and then again
        for _ in 0..<3 { _ = await cache.entry(for: key, after: cache.lookUp(key)) }

        // Then each of the lookups counts once
        let figures = try await disk.statistics().total
        XCTAssertEqual([figures.misses, figures.hits], [3, 0])
        try await disk.close()
    }

    func testThatWhatALaterTierHasIsPromotedIntoEveryTierBeforeIt() async throws {
        let (disk, shared) = (try disk(), try disk())
        let cache = cache(disk, further: [shared])
        try await shared.store(.sample("kept", at: clock), for: key)

        let first = await cache.entry(for: key)
        await cache.finishStoring()

        XCTAssertEqual(first?.entry, .sample("kept", at: clock))
        let isOnDisk = try await disk.contains(key)
        XCTAssertTrue(isOnDisk)
        XCTAssertNotNil(cache.memory.entryNow(for: key))
        try await disk.close()
        try await shared.close()
    }

    func testThatAHitOfALaterTierDoesNotWaitForTheTiersBeforeIt() async throws {
        // Given a first tier that does not end its stores
        let gate = Gate()
        let slow = WatchedTier(clock: clock.wallClock)
        slow.onStore { do { try await gate.pass() } catch { XCTFail("\(error)") } }
        let shared = try disk()
        let cache = cache(further: [slow, shared])
        try await shared.store(.sample(at: clock), for: key)
        // When
        let hit = await cache.entry(for: key)
        // Then the answer is there, and the next one comes from memory
        XCTAssertEqual(hit?.entry, .sample(at: clock))
        await gate.hasBeenReached()
        XCTAssertNotNil(cache.memory.entryNow(for: key))
        // And the shutdown waits for the store
        gate.open()
        await cache.finishStoring()
        let isPromoted = await slow.contains(key)
        XCTAssertTrue(isPromoted)
        try await shared.close()
    }

    func testThatWhatIsRemovedWhileItIsPromotedStaysRemoved() async throws {
        // Given a tier from which an entry is removed, or everything is purged, just after a lookup found it
        for isPurge in [false, true] {
            let disk = try disk()
            let shared = WatchedTier(clock: clock.wallClock)
            let cache = cache(disk, further: [shared])
            await cache.store(.sample(at: clock, tags: [.source("sample")]), for: key)
            try await disk.remove(key)
            await cache.memory.remove(key)
            shared.onFound { [key] in
                do {
                    if isPurge { _ = try await cache.purge([.all]) } else { try await cache.remove(key) }
                } catch {
                    XCTFail("\(error)")
                }
            }
            // When it is looked up
            let found = await cache.entry(for: key)
            await cache.finishStoring()
            // Then the lookup returns the entry, and no tier keeps it
            XCTAssertNotNil(found)
            let isOnDisk = try await disk.contains(key)
            XCTAssertFalse(isOnDisk)
            XCTAssertNil(cache.memory.entryNow(for: key))
            try await disk.close()
        }
    }

    func testThatOnePurgeRemovesTheEntriesOfSeveralTags() async throws {
        // Given entries of three titles, and what one purge does to the generation
        let disk = try disk()
        let cache = cache(disk)
        let keys = (0..<3).map { CacheKey(.variant, "\($0)") }
        for (number, key) in keys.enumerated() { await cache.store(.sample(at: clock, tags: [CacheTag("\(number)")]), for: key) }
        let start = await cache.generation().memory
        _ = try await cache.purge([.tag(CacheTag("another"))])
        let one = await cache.generation().memory - start
        // When two of them are purged together
        let removal = try await cache.purge([.tag(CacheTag("0")), .tag(CacheTag("2"))]).removal
        // Then only the third is left, and that was one purge
        var left: [Bool] = []
        for key in keys { left.append(await cache.contains(key)) }
        XCTAssertEqual(left, [false, true, false])
        XCTAssertEqual(removal.entries, 2)
        let end = await cache.generation().memory
        XCTAssertEqual(end - start, 2 * one)
        try await disk.close()
    }

    func testThatADryRunOfAPurgeCountsAndChangesNothing() async throws {
        let disk = try disk()
        let cache = cache(disk)
        await cache.store(.sample(at: clock), for: key)
        let start = await cache.generation().memory

        let removal = try await cache.count([.all])

        let isKept = await cache.contains(key)
        let end = await cache.generation().memory
        XCTAssertEqual(removal.entries, 1)
        XCTAssertTrue(isKept)
        XCTAssertEqual(end, start)
        try await disk.close()
    }

    func testThatAStoreReachesEveryTier() async throws {
        let disk = try disk()
        let cache = cache(disk)

        await cache.store(.sample(at: clock), for: key)

        let entries = await cache.statistics().mapValues(\.total.entries)
        XCTAssertEqual(entries, ["memory": 1, "disk": 1])
        try await disk.close()
    }

    func testThatWhatExpiredInMemoryComesBackFromTheDisk() async throws {
        let disk = try disk()
        let cache = cache(disk)
        await cache.store(.sample("kept", at: clock, cacheTime: .days(1)), for: key)
        clock.advance(by: .seconds(301))

        let hit = await cache.entry(for: key)

        XCTAssertEqual(hit?.tier, "disk")
        try await disk.close()
    }

    func testThatARemovalEmptiesEveryTierBeforeItReturns() async throws {
        let disk = try disk()
        let cache = cache(disk)
        for selection in [CacheSelection.tag(.source("sample")), .all] {
            await cache.store(.sample(at: clock, tags: [.source("sample")]), for: key)

            let promised = try await cache.count([selection])
            let removal = try await cache.remove(selection)

            let found = await cache.entry(for: key)
            XCTAssertNil(found)
            XCTAssertEqual([promised.entries, removal.entries], [1, 1])
        }
        try await disk.close()
    }

    func testThatATierThatFailsIsPassedBy() async {
        let cache = cache(further: [FailingTier()])

        await cache.store(.sample("kept", at: clock), for: key)
        let hit = await cache.entry(for: key)
        let miss = await cache.entry(for: CacheKey(.variant, "other"))
        let isThere = await cache.contains(CacheKey(.variant, "other"))
        let figures = await cache.statistics()

        XCTAssertEqual(hit?.tier, "memory")
        XCTAssertNil(miss)
        XCTAssertFalse(isThere)
        XCTAssertEqual(Array(figures.keys), ["memory"])
    }

    func testThatARemovalThatATierCouldNotDoIsToldAndDoneInTheOthers() async {
        let cache = cache(further: [FailingTier()])
        await cache.store(.sample(at: clock), for: key)

        do {
            _ = try await cache.remove(.all)
            XCTFail("the tier that failed may still have entries")
        } catch {
            XCTAssertEqual(error, FailingTier.failure)
        }

        XCTAssertNil(cache.lookUp(key).hit)
    }

    func testThatAValueOutlivesTheMemoryAndTheProcess() async throws {
        let path = try temporaryDirectory().path
        let first = try DiskTier(path: path, clock: clock.wallClock)
        let storage = TypedStorage<JSONCached<[String: Int]>>(
            "lists", in: cache(first), clock: clock.wallClock, reading: { .unlimited })
        try await storage.store(JSONCached(["a": 1]), forKey: "today", expiration: .never, tags: [.source("boxoffice")])
        try await first.close()

        let second = try DiskTier(path: path, clock: clock.wallClock)
        let later = TypedStorage<JSONCached<[String: Int]>>(
            "lists", in: cache(second), clock: clock.wallClock, reading: { .unlimited })

        let value = await later.value(forKey: "today")
        let other = await later.value(forKey: "tomorrow")
        XCTAssertEqual(value?.value, ["a": 1])
        XCTAssertNil(other)
        try await second.close()
    }

    func testThatBytesThatAreNoSuchValueAreNone() async throws {
        let cache = cache()
        try await TypedStorage<JSONCached<[Int]>>("lists", in: cache, clock: clock.wallClock, reading: { .unlimited }).store(
            JSONCached([1]), forKey: "today", expiration: .never)

        let value = await TypedStorage<JSONCached<[String: Int]>>(
            "lists", in: cache, clock: clock.wallClock, reading: { .unlimited }
        ).value(forKey: "today")

        XCTAssertNil(value)
    }

    func testThatAValueExpiresWhenItWasSaidTo() async throws {
        let storage = TypedStorage<ByteBuffer>("bytes", in: cache(), clock: clock.wallClock, reading: { .unlimited })
        try await storage.store(ByteBuffer(string: "a"), forKey: "short", expiration: .seconds(10))
        try await storage.store(ByteBuffer(string: "b"), forKey: "usual", expiration: .never)
        clock.advance(by: .seconds(10))

        let isThere = [await storage.value(forKey: "short") != nil, await storage.value(forKey: "usual") != nil]

        XCTAssertEqual(isThere, [false, true])
    }

    private func cache(_ disk: DiskTier? = nil, further: [any CacheTier] = []) -> Cache {
        Cache(memory: MemoryTier(clock: clock.wallClock), disk: disk, further: further, logger: .silent)
    }

    private func disk() throws -> DiskTier { try DiskTier(path: temporaryDirectory().path, clock: clock.wallClock) }
}

/// A tier with a failing medium.
private struct FailingTier: CacheTier {
    static let failure = CacheError.fileSystem(operation: "use", path: "/broken", reason: "it is broken")
    let name = "failing"

    func entry(for key: CacheKey) async throws(CacheError) -> CacheEntry? { throw Self.failure }
    func contains(_ key: CacheKey) async throws(CacheError) -> Bool { throw Self.failure }
    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async throws(CacheError) -> Bool {
        throw Self.failure
    }
    func generation() async throws(CacheError) -> Int { throw Self.failure }
    func raiseGeneration() async throws(CacheError) -> Int { throw Self.failure }
    func remove(_ key: CacheKey) async throws(CacheError) { throw Self.failure }
    func remove(_ selection: CacheSelection, dryRun: Bool) async throws(CacheError) -> CacheRemoval { throw Self.failure }
    func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async throws(CacheError) { throw Self.failure }
    func statistics() async throws(CacheError) -> CacheStatistics { throw Self.failure }
}

/// A tier that is changed after a lookup has found an entry.
private final class WatchedTier: CacheTier {
    let name = "watched"
    private let memory: MemoryTier
    private let event = Mutex<(@Sendable () async -> Void)?>(nil)
    private let storing = Mutex<(@Sendable () async -> Void)?>(nil)

    init(clock: WallClock) { memory = MemoryTier(clock: clock) }

    func onFound(_ body: @escaping @Sendable () async -> Void) { event.withLock { $0 = body } }

    func onStore(_ body: @escaping @Sendable () async -> Void) { storing.withLock { $0 = body } }

    func entry(for key: CacheKey) async -> CacheEntry? {
        guard let found = await memory.entry(for: key) else { return nil }
        await event.withLock { $0 }?()
        return found
    }

    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async -> Bool {
        await storing.withLock { $0 }?()
        return await memory.store(entry, for: key, ifGeneration: generation)
    }
    func contains(_ key: CacheKey) async -> Bool { await memory.contains(key) }
    func remove(_ key: CacheKey) async { await memory.remove(key) }
    func remove(_ selection: CacheSelection, dryRun: Bool) async -> CacheRemoval { await memory.remove(selection, dryRun: dryRun) }
    func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async { await memory.forEachKey(visit) }
    func statistics() async -> CacheStatistics { await memory.statistics() }
    func generation() async -> Int { memory.generation }
    func raiseGeneration() async -> Int { await memory.raiseGeneration() }
}
