import Foundation
import Logging
@testable import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

/// Two caches on one folder, like a server and the command line.
final class InvalidationWatcherTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatMemoryIsEmptiedWhenAnotherCachePurgesTheFolder() async throws {
        for selection in [CacheSelection.all, .tag(.source("sample"))] {
            let folder = try TemporaryDirectory()
            let (server, command) = (try disk(folder), try disk(folder))
            let cache = Cache(memory: MemoryTier(clock: clock.wallClock), disk: server, logger: .silent)
            _ = await cache.generation()
            await cache.store(.sample(at: clock, tags: [.source("sample")]), for: key)

            await cache.invalidations.check()
            XCTAssertNotNil(cache.lookUp(key).hit, "nobody has purged")
            _ = try await command.remove(selection, dryRun: true)
            await cache.invalidations.check()
            XCTAssertNotNil(cache.lookUp(key).hit, "a dry run purges nothing")

            let other = Cache(memory: MemoryTier(clock: clock.wallClock), disk: command, logger: .silent)
            _ = try await other.purge([selection])
            _ = await cache.generation()
            XCTAssertNotNil(cache.memory.entryNow(for: key), "reading the generation has no effect")
            await cache.invalidations.check()
            XCTAssertNil(cache.memory.entryNow(for: key))
            let found = await cache.entry(for: key)
            XCTAssertNil(found)
            try await server.close()
            try await command.close()
        }
    }

    func testReadDuringAPurgeIsNotStored() async throws {
        // Given work that begins when memory has heard of another's purge, and still has the entry
        let folder = try TemporaryDirectory()
        let (server, command) = (try disk(folder), try disk(folder))
        let start = Mutex<Int?>(nil)
        let begun = Mutex<Int?>(nil)
        let shared = Mutex<MemoryTier?>(nil)
        let memory = MemoryTier(
            clock: WallClock { [clock, key] in
                let memory = shared.withLock { $0 }
                if let memory, let before = start.withLock({ $0 }), memory.generation > before {
                    start.withLock { $0 = nil }
                    if memory.entryNow(for: key) != nil { begun.withLock { $0 = memory.generation } }
                }
                return clock.now
            })
        shared.withLock { $0 = memory }
        let cache = Cache(memory: memory, disk: server, logger: .silent)
        _ = await cache.generation()
        await cache.store(.sample(at: clock, tags: [.source("sample")]), for: key)
        start.withLock { $0 = memory.generation }
        _ = try await Cache(memory: MemoryTier(clock: clock.wallClock), disk: command, logger: .silent).purge([.all])
        // When memory has been emptied
        await cache.invalidations.check()
        // Then the result of that work is not stored
        let generation = try XCTUnwrap(begun.withLock { $0 })
        XCTAssertFalse(memory.storeNow(.sample(at: clock), for: key, ifGeneration: generation))
        shared.withLock { $0 = nil }
        try await server.close()
        try await command.close()
    }

    func testThatAPurgeOfOnesOwnLeavesTheRestOfMemoryAlone() async throws {
        let folder = try TemporaryDirectory()
        let disk = try disk(folder)
        let cache = Cache(memory: MemoryTier(clock: clock.wallClock), disk: disk, logger: .silent)
        _ = await cache.generation()
        await cache.store(.sample(at: clock, tags: [.source("kept")]), for: key)

        _ = try await cache.purge([.tag(.source("purged"))])
        await cache.invalidations.check()

        XCTAssertNotNil(cache.memory.entryNow(for: key))
        try await disk.close()
    }

    func testThatWhatBeganBeforeAPurgeIsNotStoredAfterIt() async throws {
        for isElsewhere in [false, true] {
            // Given two caches on a folder, and work that has begun
            let folder = try TemporaryDirectory()
            let (server, command) = (try disk(folder), try disk(folder))
            let cache = Cache(memory: MemoryTier(clock: clock.wallClock), disk: server, logger: .silent)
            let other = Cache(memory: MemoryTier(clock: clock.wallClock), disk: command, logger: .silent)
            let before = await cache.generation()
            // When one of them purges before it ends
            _ = try await (isElsewhere ? other : cache).purge([.tag(.source("sample"))])
            await cache.store(.sample(at: clock), for: key, ifGeneration: before)
            // Then its result is not stored, as soon as another's purge is noticed, and that of later work is
            if isElsewhere { await cache.finishStoring() }
            var found = await cache.entry(for: key)
            XCTAssertNil(found)
            let after = await cache.generation()
            await cache.store(.sample(at: clock), for: key, ifGeneration: after)
            found = await cache.entry(for: key)
            XCTAssertNotNil(found)
            // And a removal of expired entries is not a purge
            _ = try await cache.purge([.expired])
            let later = await cache.generation()
            XCTAssertEqual(later, after)
            try await server.close()
            try await command.close()
        }
    }

    func testThatTheIndexRefusesWhatBeganBeforeAnotherProcessPurged() async throws {
        // Given an entry in an index that two processes have open, which one of them removes, with and without a purge
        for (name, raises) in [("removed", false), ("purged", true)] {
            let folder = try TemporaryDirectory()
            let path = folder.path("index.sqlite")
            try Data().write(to: URL(filePath: path))
            let (index, other) = (try CacheIndex(path: path), try CacheIndex(path: path))
            let row = IndexRow(
                name: key.entryName, key: key, entry: .sample(at: clock), length: 10, stored: clock.now, end: nil)
            var isPlaced = false
            let generation = try index.generation()
            let isCurrent = try index.store([(row, generation)]) { _ in isPlaced = true }
            XCTAssertEqual(isCurrent, [true])
            XCTAssertTrue(isPlaced)
            if raises { XCTAssertEqual(try other.raiseGeneration(), generation + 1) }
            try other.remove(key.entryName) {}
            isPlaced = false
            // When the other stores it again
            let isStillCurrent = try index.store([(row, generation)]) { _ in isPlaced = true }
            // Then it is stored unless it was purged: otherwise there is neither a row nor a file
            XCTAssertEqual(isStillCurrent, [!raises], name)
            XCTAssertEqual(isPlaced, !raises, name)
            XCTAssertEqual(try index.contains(key.entryName), !raises, name)
            try index.close()
            try other.close()
        }
    }

    func testThatATierThatCannotTellItsGenerationIsNotStoredInUntilItCan() async throws {
        // Given a closed disk tier and memory
        let closed = DiskTier(closedAt: "/nowhere", clock: clock.wallClock, logger: .silent)
        let cache = Cache(memory: MemoryTier(clock: clock.wallClock), disk: closed, logger: .silent)
        // When work begins and ends
        let generation = await cache.generation()
        await cache.store(.sample(at: clock), for: key, ifGeneration: generation)
        // Then memory has the entry, and the tier was not called
        XCTAssertNotNil(cache.lookUp(key).hit)
        XCTAssertEqual(cache.failures["disk"], 0)
    }

    func testThatWhatBeganBeforeAPurgeDoesNotReachMemoryWhenTheTierIsSlow() async throws {
        // Given a tier that is purged during a store
        let tier = OvertakenTier(clock: clock.wallClock)
        let cache = Cache(memory: MemoryTier(clock: clock.wallClock), further: [tier], logger: .silent)
        let before = await cache.generation()
        // When it refuses the result of earlier work
        await cache.store(.sample(at: clock), for: key, ifGeneration: before)
        // Then memory does not have it either, and the result of later work is stored
        XCTAssertNil(cache.lookUp(key).hit)
        let after = await cache.generation()
        XCTAssertNotEqual(after, before)
        await cache.store(.sample(at: clock), for: key, ifGeneration: after)
        XCTAssertNotNil(cache.memory.entryNow(for: key))
    }

    private func disk(_ folder: TemporaryDirectory) throws -> DiskTier {
        try DiskTier(path: folder.path("cache"), isSynced: false, clock: clock.wallClock, logger: .silent)
    }
}

/// A tier that another process purges just before the first store.
private final class OvertakenTier: CacheTier {
    let name = "overtaken"
    private let memory: MemoryTier
    private let isOvertaken = Mutex(false)

    init(clock: WallClock) { memory = MemoryTier(clock: clock) }

    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async -> Bool {
        let isFirst = isOvertaken.withLock { isOvertaken in
            defer { isOvertaken = true }
            return !isOvertaken
        }
        if isFirst { _ = await memory.raiseGeneration() }
        return await memory.store(entry, for: key, ifGeneration: generation)
    }

    func entry(for key: CacheKey) async -> CacheEntry? { await memory.entry(for: key) }
    func contains(_ key: CacheKey) async -> Bool { await memory.contains(key) }
    func remove(_ key: CacheKey) async { await memory.remove(key) }
    func remove(_ selection: CacheSelection, dryRun: Bool) async -> CacheRemoval { await memory.remove(selection, dryRun: dryRun) }
    func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async { await memory.forEachKey(visit) }
    func statistics() async -> CacheStatistics { await memory.statistics() }
    func generation() async -> Int { memory.generation }
    func raiseGeneration() async -> Int { await memory.raiseGeneration() }
}
