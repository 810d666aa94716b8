import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

final class DiskTierBudgetTests: XCTestCase {
    private let clock = ManualClock()

    func testThatEachKindStaysInItsOwnBudget() async throws {
        let tier = try tier(DiskBudgets(original: 200_000, variant: 400_000, metadata: 100_000))

        try await ordered {
            for number in 0..<40 {
                for kind in CacheKind.allCases {
                    try await tier.store(
                        .sample(ByteBuffer(repeating: 1, count: 9000), at: clock), for: CacheKey(kind, "\(number)"))
                    let bytes = try await tier.statistics().total.bytes
                    XCTAssertLessThanOrEqual(bytes, 700_000)
                }
            }
        }

        let counts = try await counts(tier)
        XCTAssertEqual(counts, [.original: 16, .variant: 32, .metadata: 8], "12 KiB on disk for each entry")
        try await tier.close()
    }

    func testThatADearEntryOutlivesCheapOnes() async throws {
        let tier = try tier(DiskBudgets(original: 0, variant: 204_800, metadata: 0))
        let dear = CacheKey(.variant, "dear")
        try await tier.store(.sample(at: clock, cost: 5000), for: dear)

        try await ordered {
            for number in 0..<120 { try await tier.store(.sample(at: clock, cost: 5), for: CacheKey(.variant, "\(number)")) }
        }

        let isThere = try await tier.contains(dear)
        XCTAssertTrue(isThere)
        try await tier.close()
    }

    func testThatAnEntryThatIsUsedOutlivesOthers() async throws {
        let tier = try tier(DiskBudgets(original: 0, variant: 204_800, metadata: 0))
        let used = CacheKey(.variant, "used")
        try await tier.store(.sample(at: clock), for: used)
        for _ in 0..<20 { _ = try await tier.entry(for: used) }
        try await tier.sweep()

        try await ordered {
            for number in 0..<120 { try await tier.store(.sample(at: clock), for: CacheKey(.variant, "\(number)")) }
        }

        let isThere = try await tier.contains(used)
        XCTAssertTrue(isThere)
        try await tier.close()
    }

    func testThatOfEntriesThatCostTheSameTheSmallOneStays() async throws {
        let tier = try tier(DiskBudgets(original: 0, variant: 204_800, metadata: 0))
        let (small, large) = (CacheKey(.variant, "small"), CacheKey(.variant, "large"))
        try await tier.store(.sample(ByteBuffer(repeating: 1, count: 1000), at: clock), for: small)
        try await tier.store(.sample(ByteBuffer(repeating: 1, count: 90_000), at: clock), for: large)

        try await ordered {
            for number in 0..<30 { try await tier.store(.sample(at: clock), for: CacheKey(.variant, "\(number)")) }
        }

        let (hasSmall, hasLarge) = (try await tier.contains(small), try await tier.contains(large))
        XCTAssertTrue(hasSmall)
        XCTAssertFalse(hasLarge)
        try await tier.close()
    }

    func testThatWhatWasDearOnceDoesNotStayForEver() async throws {
        let tier = try tier(DiskBudgets(original: 0, variant: 40_960, metadata: 0))
        let dear = CacheKey(.variant, "dear")
        try await tier.store(.sample(at: clock, cost: 20), for: dear)

        try await ordered {
            for number in 0..<150 { try await tier.store(.sample(at: clock, cost: 5), for: CacheKey(.variant, "\(number)")) }
        }

        let isThere = try await tier.contains(dear)
        XCTAssertFalse(isThere)
        try await tier.close()
    }

    func testThatAnEntryOverHalfOfItsBudgetIsRefused() async throws {
        let tier = try tier(DiskBudgets(original: 0, variant: 204_800, metadata: 0))
        let key = CacheKey(.variant, "poster")
        try await tier.store(.sample("old", at: clock), for: key)

        try await tier.store(.sample(ByteBuffer(repeating: 1, count: 102_401), at: clock), for: key)

        let found = try await tier.entry(for: key)
        XCTAssertNil(found, "neither the new entry nor the old one may be served")
        try await tier.close()
    }

    func testThatASweepMakesRoomDownToTheLowWaterAndDeletesWhatHasExpired() async throws {
        let path = try temporaryDirectory().path
        let tier = try DiskTier(
            path: path, budgets: DiskBudgets(original: 0, variant: 409_600, metadata: 0), isSynced: false, clock: clock.wallClock)
        for number in 0..<100 { try await tier.store(.sample(at: clock), for: CacheKey(.variant, "\(number)")) }

        try await tier.sweep()

        let figures = try await tier.statistics().total
        XCTAssertEqual(figures.bytes, 368_640)
        XCTAssertEqual(figures.evictions, ["budget": 10])
        clock.advance(by: .seconds(8 * 86_400))
        try await tier.sweep()
        XCTAssertEqual(try CacheFolder(path).entryFiles(), [])
        try await tier.close()
    }

    func testTheFolderStaysInItsBudgetWhateverItsTitlesAreCalled() async throws {
        // Given a tier of a megabyte
        let path = try temporaryDirectory().path
        let tier = try DiskTier(
            path: path, budgets: DiskBudgets(original: 0, variant: 1 << 20, metadata: 0), isSynced: false, clock: clock.wallClock)
        // When a thousand small entries are stored, each of a title of its own with a long name
        try await ordered {
            for number in 0..<1000 {
                let title = TitleReference(source: "web", id: String(repeating: "long", count: 500) + "\(number)")
                try await tier.store(
                    .sample(at: clock, tags: [.source("web"), .title(title)]), for: CacheKey(.variant, title.description))
            }
        }
        try await tier.sweep()
        // Then the folder with its index is hardly larger
        let bytes = try folderBytes(path)
        XCTAssertLessThan(bytes, 5 << 18)
        // And an empty one needs nothing of them
        _ = try await tier.remove(.tag(.source("web")))
        try await tier.sweep()
        XCTAssertLessThan(try folderBytes(path), 1 << 18)
        try await tier.close()
    }

    /// The bytes of all files in the folder.
    private func folderBytes(_ path: String) throws -> Int {
        let files = try FileManager.default.subpathsOfDirectory(atPath: path)
        return try files.reduce(0) { sum, file in
            let facts = try FileManager.default.attributesOfItem(atPath: "\(path)/\(file)")
            return sum + (facts[.type] as? FileAttributeType == .typeRegular ? facts[.size] as? Int ?? 0 : 0)
        }
    }

    func testThatThereAreNeverMoreEntriesThanAllowed() async throws {
        // Given a tier for twenty entries with far more bytes than these need
        let path = try temporaryDirectory().path
        let tier = try DiskTier(path: path, entries: 20, isSynced: false, clock: clock.wallClock)
        let used = CacheKey(.variant, "used")
        try await tier.store(.sample(at: clock), for: used)
        for _ in 0..<20 { _ = try await tier.entry(for: used) }
        try await tier.sweep()
        // When many entries of all kinds are stored
        try await ordered {
            for number in 0..<60 {
                for kind in CacheKind.allCases {
                    try await tier.store(.sample(at: clock), for: CacheKey(kind, "\(number)"))
                    // Then at no time there are more
                    let entries = try await tier.statistics().total.entries
                    XCTAssertLessThanOrEqual(entries, 20)
                }
            }
        }
        // And the files are as many, no kind is gone, and what is used is kept
        XCTAssertEqual(try CacheFolder(path).entryFiles().count, 20)
        let counts = try await counts(tier)
        XCTAssertEqual(Set(counts.keys), Set(CacheKind.allCases))
        let isThere = try await tier.contains(used)
        XCTAssertTrue(isThere)
        let evictions = try await tier.statistics().total.evictions
        XCTAssertEqual(evictions, ["count": 161])
        try await tier.close()
    }

    func testThatAReplacementEvictsNothingAndAVisitorsFirstRequestNeither() async throws {
        // Given a tier that is full by count
        let tier = try DiskTier(path: temporaryDirectory().path, entries: 3, isSynced: false, clock: clock.wallClock)
        for number in 0..<3 { try await tier.store(.sample("old", at: clock), for: CacheKey(.variant, "\(number)")) }
        // When one entry is replaced, and another one comes for the first time
        try await tier.store(.sample("new", at: clock), for: CacheKey(.variant, "1"))
        try await tier.store(.sample("other", at: clock), for: CacheKey(.variant, "3"))
        // Then the first three are there
        let replaced = try await tier.entry(for: CacheKey(.variant, "1"))
        XCTAssertEqual(replaced?.body, ByteBuffer(string: "new"))
        let counts = try await counts(tier)
        XCTAssertEqual(counts, [.variant: 3])
        let newcomer = try await tier.contains(CacheKey(.variant, "3"))
        XCTAssertFalse(newcomer)
        try await tier.close()
    }

    func testThatASweepMakesRoomInAFolderWithTooManyEntries() async throws {
        // Given a folder with a hundred entries
        let path = try temporaryDirectory().path
        let large = try DiskTier(path: path, isSynced: false, clock: clock.wallClock)
        for number in 0..<100 { try await large.store(.sample(at: clock), for: CacheKey(.variant, "\(number)")) }
        try await large.close()
        // When a tier for fifty opens and sweeps it
        let tier = try DiskTier(path: path, entries: 50, isSynced: false, clock: clock.wallClock)
        try await tier.sweep()
        // Then nine tenths of them are left
        let entries = try await tier.statistics().total.entries
        XCTAssertEqual(entries, 45)
        try await tier.close()
    }

    func testSweepLetsLookUpsAndStoresThrough() async throws {
        // Given three hundred expired entries and one that has not expired
        let tier = try DiskTier(
            path: temporaryDirectory().path, isSynced: false, batchDelay: .zero, clock: clock.wallClock)
        for number in 0..<300 {
            try await tier.store(.sample(at: clock, cacheTime: .seconds(100)), for: CacheKey(.variant, "\(number)"))
        }
        clock.advance(by: .seconds(101))
        let key = CacheKey(.variant, "alive")
        try await tier.store(.sample(at: clock, cacheTime: .seconds(100)), for: key)
        // When that one is requested and stored again between the steps of a sweep
        let seen = Mutex<[Int]>([])
        try await tier.sweep {
            do {
                let found = try await tier.entry(for: key)
                XCTAssertNotNil(found)
                try await tier.store(.sample(at: self.clock, cacheTime: .seconds(100)), for: key)
                let entries = try await tier.statistics().total.entries
                seen.withLock { $0.append(entries) }
            } catch {
                XCTFail("\(error)")
            }
        }
        // Then it is served each time, while all others go in steps of 64
        XCTAssertEqual(seen.withLock { $0 }, [237, 173, 109, 45, 1, 1])
        try await tier.close()
    }

    func testThatOneFolderHoldsOnlyASmallPartOfTheFiles() async throws {
        let path = try temporaryDirectory().path
        let tier = try DiskTier(path: path, clock: clock.wallClock)
        for number in 0..<500 { try await tier.store(.sample(at: clock), for: CacheKey(.variant, "\(number)")) }

        let folders = Dictionary(grouping: try CacheFolder(path).entryFiles()) { $0.deletingLastPathComponent() }

        XCTAssertLessThan(folders.values.map(\.count).max() ?? 500, 6)
        try await tier.close()
    }

    /// Stores like a prefetch, which may evict others.
    private func ordered(_ work: () async throws -> Void) async throws {
        try await WorkContext.with({ $0.urgency = .prefetch }) { try await work() }
    }

    private func counts(_ tier: DiskTier) async throws -> [CacheKind: Int] {
        let keys = KeyList()
        try await tier.forEachKey { keys.add($0) }
        return Dictionary(grouping: keys.all, by: \.kind).mapValues(\.count)
    }

    private func tier(_ budgets: DiskBudgets) throws -> DiskTier {
        try DiskTier(path: temporaryDirectory().path, budgets: budgets, isSynced: false, clock: clock.wallClock)
    }
}
