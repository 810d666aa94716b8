import Logging
@testable import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

/// Two caches on one folder, as a server and the command line have them.
final class PurgeWatchTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatMemoryIsEmptiedWhenAnotherCachePurgesTheFolder() async throws {
        for selection in [CacheSelection.all, .tag(.source("sample"))] {
            let folder = try TemporaryDirectory()
            let (server, command) = (try disk(folder), try disk(folder))
            let cache = Cache(memory: MemoryTier(clock: clock.wallClock), others: [server], logger: .silent)
            _ = await cache.purges.mark()
            await cache.store(.sample(at: clock, tags: [.source("sample")]), for: key)

            _ = await cache.purges.mark()
            XCTAssertNotNil(cache.entryNow(for: key), "nobody has purged")
            _ = try await command.remove(selection, dryRun: true)
            _ = await cache.purges.mark()
            XCTAssertNotNil(cache.entryNow(for: key), "a dry run purges nothing")

            _ = try await command.remove(selection)
            _ = await cache.purges.mark()
            XCTAssertNil(cache.memory.entryNow(for: key))
            let found = await cache.entry(for: key)
            XCTAssertNil(found)
            try await server.close()
            try await command.close()
        }
    }

    func testThatAPurgeOfOnesOwnLeavesTheRestOfMemoryAlone() async throws {
        let folder = try TemporaryDirectory()
        let disk = try disk(folder)
        let cache = Cache(memory: MemoryTier(clock: clock.wallClock), others: [disk], logger: .silent)
        _ = await cache.purges.mark()
        await cache.store(.sample(at: clock, tags: [.source("kept")]), for: key)

        try await cache.remove(.tag(.source("purged")))
        _ = await cache.purges.mark()

        XCTAssertNotNil(cache.memory.entryNow(for: key))
        try await disk.close()
    }

    func testThatWhatBeganBeforeAPurgeIsNotStoredAfterIt() async throws {
        for isForeign in [false, true] {
            // Given two caches on a folder, and work that began
            let folder = try TemporaryDirectory()
            let (server, command) = (try disk(folder), try disk(folder))
            let cache = Cache(memory: MemoryTier(clock: clock.wallClock), others: [server], logger: .silent)
            let other = Cache(memory: MemoryTier(clock: clock.wallClock), others: [command], logger: .silent)
            let before = await cache.purges.mark()
            // When one of them purges something before it ends
            _ = try await (isForeign ? other : cache).purge(.tag(.source("sample")))
            await cache.store(.sample(at: clock), for: key, begunAt: before)
            // Then it is not stored, and what began afterwards is
            var found = await cache.entry(for: key)
            XCTAssertNil(found)
            let after = await cache.purges.mark()
            await cache.store(.sample(at: clock), for: key, begunAt: after)
            found = await cache.entry(for: key)
            XCTAssertNotNil(found)
            // And what has expired is no purge
            _ = try await cache.purge(.expired)
            let later = await cache.purges.mark()
            XCTAssertEqual(later, after)
            try await server.close()
            try await command.close()
        }
    }

    private func disk(_ folder: TemporaryDirectory) throws -> DiskTier {
        try DiskTier(path: folder.path("cache"), isSynced: false, clock: clock.wallClock, logger: .silent)
    }
}
