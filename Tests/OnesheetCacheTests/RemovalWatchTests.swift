import Logging
@testable import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

/// Two caches on one folder, as a server and the command line have them.
final class RemovalWatchTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatMemoryIsEmptiedWhenAnotherCachePurgesTheFolder() async throws {
        for selection in [CacheSelection.all, .tag(.source("sample"))] {
            let folder = try TemporaryDirectory()
            let (server, command) = (try disk(folder), try disk(folder))
            let cache = Cache(memory: MemoryTier(clock: clock.wallClock), others: [server], logger: .silent)
            let watch = RemovalWatch(memory: cache.memory, disk: server)
            try await watch.look()
            await cache.store(.sample(at: clock, tags: [.source("sample")]), for: key)

            try await watch.look()
            XCTAssertNotNil(cache.entryNow(for: key), "nobody has purged")
            _ = try await command.remove(selection, dryRun: true)
            try await watch.look()
            XCTAssertNotNil(cache.entryNow(for: key), "a dry run purges nothing")

            _ = try await command.remove(selection)
            try await watch.look()
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
        let watch = RemovalWatch(memory: cache.memory, disk: disk)
        try await watch.look()
        await cache.store(.sample(at: clock, tags: [.source("kept")]), for: key)

        try await cache.remove(.tag(.source("purged")))
        try await watch.look()

        XCTAssertNotNil(cache.memory.entryNow(for: key))
        try await disk.close()
    }

    private func disk(_ folder: TemporaryDirectory) throws -> DiskTier {
        try DiskTier(path: folder.path("cache"), isSynced: false, clock: clock.wallClock, logger: .silent)
    }
}
