import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

/// Entries that are sent from their files.
final class SendableFileTests: XCTestCase {
    /// Ahead of the file system's clock, so that a new file counts as settled.
    private let clock = ManualClock(Date() + 3600)
    private let key = CacheKey(.variant, "large")
    private let body = String(repeating: "one-sheet ", count: 30_000)

    func testThatALargeEntryIsGivenAsAFileOnceItWasFoundWhole() async throws {
        // Given a large entry that was read and checked
        let (tier, cache, _) = try await stored()
        XCTAssertNil(cache.lookUp(key).hit, "nobody has checked it yet")
        _ = try await tier.entry(for: key)

        // When an event loop looks it up
        let hit = try XCTUnwrap(cache.lookUp(key).hit)

        // Then it gets the file with the same bytes, and all facts
        let file = try XCTUnwrap(hit.file)
        XCTAssertEqual(try bytes(file), body)
        XCTAssertEqual(hit.size, body.utf8.count)
        XCTAssertEqual(hit.entry.body, ByteBuffer())
        XCTAssertEqual(hit.entry.validator, CacheEntry.sample(body, at: clock).validator)
        let hits = try await tier.statistics().total.hits
        XCTAssertEqual(hits, 2)
        try await tier.close()
    }

    func testThatTheBodyOfAFileIsReadWithoutAnotherLookup() async throws {
        for room in [0, 64 << 20] {
            // Given the lookup of an event loop that found a file
            let (tier, _, _) = try await stored()
            let cache = Cache(memory: MemoryTier(bytes: room, clock: clock.wallClock), disk: tier, logger: .silent)
            _ = try await tier.entry(for: key)
            let lookUp = cache.lookUp(key)
            XCTAssertNotNil(lookUp.hit?.file)
            let before = try await tier.statistics().total

            // When the body is needed in memory
            let hit = await cache.entry(for: key, after: lookUp)

            // Then it is that of the entry, nothing is counted again, and memory has it if there is room
            XCTAssertEqual(hit?.entry, .sample(body, at: clock))
            XCTAssertEqual(hit?.tier, "disk")
            XCTAssertNil(hit?.file)
            let after = try await tier.statistics().total
            XCTAssertEqual([after.hits, after.misses], [before.hits, before.misses])
            XCTAssertEqual(cache.lookUp(key).hit?.tier, room > 0 ? "memory" : "disk")
            try await tier.close()
        }
    }

    func testThatAFileIsNotGivenAfterItChanged() async throws {
        for change in [{ $0[$0.count / 2] ^= 1 }, { $0.removeLast() }, { $0 = Data() }] as [(inout Data) -> Void] {
            let (tier, cache, file) = try await stored()
            _ = try await tier.entry(for: key)
            var data = try Data(contentsOf: file)
            change(&data)
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: data)
            try handle.close()

            XCTAssertNil(cache.lookUp(key).hit)
            let found = try await tier.entry(for: key)
            XCTAssertNil(found)
            XCTAssertNil(cache.lookUp(key).hit, "and it is not there any more")
            try await tier.close()
        }
    }

    func testThatAnOpenFileIsUsableUntilItsEntryIsRemovedReplacedChangedOrExpired() async throws {
        let ends: [(DiskTier, URL) async throws -> Void] = [
            { tier, _ in try await tier.remove(self.key) },
            { tier, _ in try await tier.store(.sample("other", at: self.clock), for: self.key) },
            { _, file in
                let handle = try FileHandle(forWritingTo: file)
                try handle.seek(toOffset: 1000)
                try handle.write(contentsOf: [0])
                try handle.close()
            },
            { _, _ in self.clock.advance(by: .seconds(8 * 86_400)) },
        ]
        for end in ends {
            let (tier, cache, file) = try await stored()
            _ = try await tier.entry(for: key)
            let open = try XCTUnwrap(cache.lookUp(key).hit?.file)
            XCTAssertTrue(open.isUsable())
            XCTAssertTrue(open.isUsable())
            let hits = try await tier.statistics().total.hits
            XCTAssertEqual(hits, 4, "each use is a hit")

            try await end(tier, file)

            XCTAssertFalse(open.isUsable())
            try await tier.close()
        }
    }

    func testPartsAreReadAndCountedAlone() async throws {
        // Given a large entry that has not been read
        let (tier, cache, _) = try await stored()
        let found = await cache.largeHead(of: key)
        let head = try XCTUnwrap(found)
        XCTAssertEqual(head.size, body.utf8.count)
        XCTAssertEqual(head.entry.body, ByteBuffer())
        for _ in 0..<2 {
            // When parts of it are read, with memory for no more than these
            let parts = await cache.parts([0..<9, 100_000..<100_010], of: key, head, into: .forSmallEntries)
            // Then they are those of the entry
            XCTAssertEqual(parts?.map { String(buffer: $0) }, ["one-sheet", "one-sheet "])
        }
        // And larger ones need memory
        let memory = ReadingMemory.forSmallEntries
        let refused = await cache.parts([0..<100_000], of: key, head, into: memory)
        XCTAssertNil(refused)
        XCTAssertTrue(memory.isRefused)
        XCTAssertNil(cache.memory.entryNow(for: key), "a part is no entry")
        try await tier.close()
    }

    func testPartsOfAnotherOrADamagedEntryAreNotRead() async throws {
        let changes: [(DiskTier, URL) async throws -> Void] = [
            { tier, _ in try await tier.remove(self.key) },
            { tier, _ in try await tier.store(.sample(self.body + "more", at: self.clock), for: self.key) },
            { _, file in
                let handle = try FileHandle(forWritingTo: file)
                try handle.seek(toOffset: 200_000)
                try handle.write(contentsOf: [0])
                try handle.close()
            },
            { _, file in
                let handle = try FileHandle(forWritingTo: file)
                try handle.truncate(atOffset: 200_000)
                try handle.close()
            },
            { _, _ in self.clock.advance(by: .seconds(8 * 86_400)) },
        ]
        for change in changes {
            let (tier, cache, file) = try await stored()
            let found = await cache.largeHead(of: key)
            let head = try XCTUnwrap(found)
            try await change(tier, file)
            let parts = await cache.parts([0..<9], of: key, head, into: .unlimited)
            XCTAssertNil(parts)
            try await tier.close()
        }
    }

    func testThatAFileIsNotGivenForLongWithoutBeingChecked() async throws {
        let (tier, cache, _) = try await stored()
        _ = try await tier.entry(for: key)
        clock.advance(by: .seconds(61))

        XCTAssertNil(cache.lookUp(key).hit)
        try await tier.close()
    }

    func testThatWhatMemoryHasNoRoomForIsGivenAsAFile() async throws {
        let disk = try disk()
        let cache = Cache(memory: MemoryTier(bytes: 0, clock: clock.wallClock), disk: disk.tier, logger: .silent)
        try await disk.tier.store(.sample("small", at: clock), for: key)
        _ = try await disk.tier.entry(for: key)

        let file = try XCTUnwrap(cache.lookUp(key).hit?.file)

        XCTAssertEqual(try bytes(file), "small")
        try await disk.tier.close()
    }

    private func disk() throws -> (tier: DiskTier, folder: CacheFolder) {
        let path = try temporaryDirectory().path
        return (try DiskTier(path: path, isSynced: false, clock: clock.wallClock), CacheFolder(path))
    }

    private func stored() async throws -> (DiskTier, Cache, URL) {
        let disk = try disk()
        try await disk.tier.store(.sample(body, at: clock), for: key)
        let cache = Cache(memory: MemoryTier(clock: clock.wallClock), disk: disk.tier, logger: .silent)
        return (disk.tier, cache, try XCTUnwrap(disk.folder.entryFiles().first))
    }

    /// The text in the file region.
    private func bytes(_ file: ReadyFile) throws -> String {
        let region = file.region
        var bytes = [UInt8](repeating: 0, count: region.readableBytes)
        let count = try region.fileHandle.withUnsafeFileDescriptor { pread($0, &bytes, bytes.count, off_t(region.readerIndex)) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
