import FoundationEssentials
import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

/// Long entries on a disk are counted before they are read.
final class CountedHitTests: XCTestCase {
    private let pool = RenderPool(workers: 1, queue: 1)

    func testThatManyWhoAskForLongEntriesReadNoMoreThanThereIsRoomFor() async throws {
        // Given twenty entries of a megabyte on a disk and none in memory, and room for three
        let cache = try await cache(bytes: 1 << 20, entries: 20)
        let (memory, pool) = (MemoryBudget(limit: 4 << 20), pool)
        // When all are asked for and none is let go of
        var (hits, refused) = ([CountedHit](), 0)
        for number in 0..<20 {
            do {
                let hit = try await CountedHit(Self.key(number), in: cache, counting: memory, pool: pool)
                hits.append(try XCTUnwrap(hit))
            } catch let error as Failure {
                guard error.title == "Overloaded" else { throw error }
                refused += 1
            }
        }
        // Then three are there and counted, and the others were not read, nor taken for missing
        XCTAssertEqual(hits.count, 3)
        XCTAssertEqual(refused, 17)
        XCTAssertGreaterThanOrEqual(memory.reserved, 3 << 20)
        let misses = await cache.statistics()["disk"]?.total.misses
        XCTAssertEqual(misses, 0)
        // And with them their room is free
        hits = []
        // The task that has read one may hold it a moment longer.
        await waitWhile(memory.reserved > 0)
        let again = try await CountedHit(Self.key(19), in: cache, counting: memory, pool: pool)
        XCTAssertEqual(again?.hit.entry.body.readableBytes, 1 << 20)
    }

    func testThatShortEntriesNeedNoRoomAndOneLongOneIsAlwaysPossible() async throws {
        let (short, long) = (try await cache(bytes: 1 << 10, entries: 1), try await cache(bytes: 1 << 20, entries: 1))
        let memory = MemoryBudget(limit: 10)
        let one = try await CountedHit(Self.key(0), in: short, counting: memory, pool: pool)
        XCTAssertEqual(one?.hit.entry.body.readableBytes, 1 << 10)
        XCTAssertEqual(memory.reserved, 0)
        let other = try await CountedHit(Self.key(0), in: long, counting: memory, pool: pool)
        XCTAssertEqual(other?.hit.entry.body.readableBytes, 1 << 20)
        XCTAssertGreaterThan(memory.reserved, 1 << 20)
    }

    func testThatAPartOfABudgetCountsInTheWhole() {
        let whole = MemoryBudget(limit: 100)
        let part = MemoryBudget(limit: 40, of: whole)
        XCTAssertNil(part.reserve(41))
        let reservation = part.reserve(30)
        XCTAssertEqual([part.reserved, whole.reserved], [30, 30])
        let rest = whole.reserve(51)
        XCTAssertNotNil(rest)
        XCTAssertNil(part.reserve(6))
        XCTAssertEqual([part.reserved, whole.reserved], [30, 81])
        withExtendedLifetime((reservation, rest)) {}
    }

    private static func key(_ number: Int) -> CacheKey { CacheKey(.variant, "\(number)") }

    private func cache(bytes: Int, entries: Int) async throws -> Cache {
        let folder = try TemporaryDirectory()
        addTeardownBlock { folder.remove() }
        let tier = try DiskTier(path: folder.path("cache"), minimumFreeSpace: .bytes(0), isSynced: false)
        for number in 0..<entries {
            let entry = CacheEntry(
                body: ByteBuffer(repeating: UInt8(number), count: bytes), mediaType: "image/png", validator: "\(number)",
                created: Date(), cacheTime: .days(1))
            try await tier.store(entry, for: Self.key(number))
        }
        return Cache(memory: MemoryTier(bytes: 0), disk: tier, logger: Logger(label: "test"))
    }
}
