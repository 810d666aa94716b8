import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

final class CacheTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatWhatOnlyTheDiskHasIsPromotedIntoMemory() async throws {
        let disk = try disk()
        let cache = cache([disk])
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
        let cache = cache([disk])
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
        XCTAssertNil(disk.entryNow(for: key, reading: 1 << 20), "it has expired")
        try await disk.close()
    }

    func testThatAStoreReachesEveryTier() async throws {
        let disk = try disk()
        let cache = cache([disk])

        await cache.store(.sample(at: clock), for: key)

        let entries = await cache.statistics().mapValues(\.total.entries)
        XCTAssertEqual(entries, ["memory": 1, "disk": 1])
        try await disk.close()
    }

    func testThatWhatExpiredInMemoryComesBackFromTheDisk() async throws {
        let disk = try disk()
        let cache = cache([disk])
        await cache.store(.sample("kept", at: clock, cacheTime: .days(1)), for: key)
        clock.advance(by: .seconds(301))

        let hit = await cache.entry(for: key)

        XCTAssertEqual(hit?.tier, "disk")
        try await disk.close()
    }

    func testThatARemovalEmptiesEveryTierBeforeItReturns() async throws {
        let disk = try disk()
        let cache = cache([disk])
        for selection in [CacheSelection.tag(.source("sample")), .all] {
            await cache.store(.sample(at: clock, tags: [.source("sample")]), for: key)

            let promised = try await cache.remove(selection, dryRun: true)
            let removal = try await cache.remove(selection)

            let found = await cache.entry(for: key)
            XCTAssertNil(found)
            XCTAssertEqual([promised.entries, removal.entries], [1, 1])
        }
        try await disk.close()
    }

    func testThatATierThatFailsIsPassedBy() async {
        let cache = cache([FailingTier()])

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
        let cache = cache([FailingTier()])
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
        let storage = TypedStorage<JSONCached<[String: Int]>>("lists", in: cache([first]), clock: clock.wallClock)
        try await storage.store(JSONCached(["a": 1]), forKey: "today", tags: [.source("boxoffice")])
        try await first.close()

        let second = try DiskTier(path: path, clock: clock.wallClock)
        let later = TypedStorage<JSONCached<[String: Int]>>("lists", in: cache([second]), clock: clock.wallClock)

        let value = await later.value(forKey: "today")
        let other = await later.value(forKey: "tomorrow")
        XCTAssertEqual(value?.value, ["a": 1])
        XCTAssertNil(other)
        try await second.close()
    }

    func testThatBytesThatAreNoSuchValueAreNone() async throws {
        let cache = cache([])
        try await TypedStorage<JSONCached<[Int]>>("lists", in: cache, clock: clock.wallClock).store(
            JSONCached([1]), forKey: "today")

        let value = await TypedStorage<JSONCached<[String: Int]>>("lists", in: cache, clock: clock.wallClock).value(forKey: "today")

        XCTAssertNil(value)
    }

    func testThatAValueExpiresWhenItWasSaidTo() async throws {
        let storage = TypedStorage<ByteBuffer>("bytes", in: cache([]), clock: clock.wallClock)
        try await storage.store(ByteBuffer(string: "a"), forKey: "short", expiration: .seconds(10))
        try await storage.store(ByteBuffer(string: "b"), forKey: "usual")
        clock.advance(by: .seconds(10))

        let isThere = [await storage.contains("short"), await storage.contains("usual")]

        XCTAssertEqual(isThere, [false, true])
    }

    func testThatARemovedValueIsGone() async throws {
        let storage = TypedStorage<ByteBuffer>("bytes", in: cache([]), clock: clock.wallClock)
        try await storage.store(ByteBuffer(string: "a"), forKey: "key")

        try await storage.remove(forKey: "key")

        let value = await storage.value(forKey: "key")
        XCTAssertNil(value)
    }

    private func cache(_ others: [any CacheTier]) -> Cache {
        Cache(memory: MemoryTier(clock: clock.wallClock), others: others, logger: .silent)
    }

    private func disk() throws -> DiskTier { try DiskTier(path: temporaryDirectory().path, clock: clock.wallClock) }
}

/// A tier whose medium is broken.
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
