import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetCluster

/// What a shared tier counts and verifies.
final class SharedTierCountingTests: SharedTierTestCase {
    func testThatASumOfSizesThatAStoreMakesUpIsNoTrap() async throws {
        let sum = CacheRemoval(entries: 1, bytes: .max) + CacheRemoval(entries: 1, bytes: 5)
        XCTAssertEqual(sum, CacheRemoval(entries: 2, bytes: .max))
        var figures = CacheFigures()
        figures.bytes = .max
        XCTAssertEqual((figures + figures).bytes, .max)
    }

    func testThatLookUpsAtOnceTakeAQuarterOfTheMemory() {
        let settings = SharedSettings(prefix: "onesheet")
        let counts = [0, 64 << 20, 512 << 20, 4 << 30].map(settings.readsUnderWay(within:))
        XCTAssertEqual(counts, [4, 4, 16, 64])
    }

    func testThatHeldEntriesAreCountedBySourceWithoutReadingThem() async throws {
        let tier = tier()
        for (number, source) in ["a", "a", "b", "c"].enumerated() {
            try await tier.store(.sample(at: clock, tags: [CacheTag("further")]), for: CacheKey(.original, "\(source)://\(number)"))
        }
        await tier.flush()

        let held = try await tier.held(sources: ["a", "b"])

        XCTAssertEqual(held.sources.mapValues(\.entries), ["a": 2, "b": 1, "": 1])
        XCTAssertEqual(held.total.bytes, store.names.reduce(0) { $0 + (store[$1]?.readableBytes ?? 0) })
        XCTAssertEqual(store.calls(.get), 0)
    }

    func testThatVerificationFindsAndRepairsDamage() async throws {
        let tier = tier()
        for number in 0..<20 { try await tier.store(.sample(at: clock), for: CacheKey(.original, "a://\(number)")) }
        await tier.flush()
        for name in store.names.prefix(3) { store[name] = ByteBuffer(string: "x") }

        let found = try await tier.verify(repair: false)
        let repaired = try await tier.verify(repair: true)
        let after = try await tier.verify(repair: false)

        XCTAssertEqual([found.whole, found.damaged, repaired.damaged, after.damaged, after.whole], [17, 3, 3, 0, 17])
        XCTAssertFalse(found.isClean)
        XCTAssertTrue(after.isClean)
    }
}
