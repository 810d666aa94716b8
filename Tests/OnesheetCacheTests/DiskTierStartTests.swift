import Foundation
import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

/// A disk that is full or read-only at the start: the tier opens anyway, and works as soon as possible.
final class DiskTierStartTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatATierStartsOnADiskFullOfBytesAndComesBack() async throws {
        let disk = try disk("size=1m")
        try disk.fill()
        let tier = try DiskTier(path: disk.path("cache"), clock: clock.wallClock, logger: .silent)

        await expectNothingStored(in: tier)
        await expectNothingStored(in: tier)

        try FileManager.default.removeItem(atPath: disk.path("filler"))
        try await expectStored(in: tier)
        XCTAssertEqual(try CacheFolder(disk.path("cache")).indexFiles().filter { $0.pathExtension == "sqlite" }.count, 1)
        try await tier.close()
    }

    func testThatATierStartsOnADiskFullOfInodesAndComesBack() async throws {
        let disk = try disk("size=1m,nr_inodes=50")
        disk.fillInodes()
        let tier = try DiskTier(path: disk.path("cache"), clock: clock.wallClock, logger: .silent)

        await expectNothingStored(in: tier)

        for number in 0..<20 { try FileManager.default.removeItem(atPath: disk.path("filler-\(number)")) }
        try await expectStored(in: tier)
        try await tier.close()
    }

    func testThatOnAReadOnlyDiskWhatIsThereIsFoundAndTheTierComesBack() async throws {
        let disk = try disk("size=1m")
        let tier = try await tierOnWhatBecameReadOnly(disk)

        let found = try await tier.entry(for: key)
        XCTAssertEqual(found?.body, ByteBuffer(string: "before"))
        await expectNothingStored(in: tier)

        try disk.remount("rw")
        try await expectStored(in: tier)
        let figures = try await tier.statistics().total
        XCTAssertEqual(figures.entries, 2)
        try await tier.close()
    }

    func testThatATierThatNeverCouldWriteEnds() async throws {
        let disk = try disk("size=1m")
        let tier = try await tierOnWhatBecameReadOnly(disk)
        _ = try await tier.entry(for: key)
        try await tier.close()
    }

    func testThatAFolderOfSomeoneElseIsRefusedOnAReadOnlyDiskToo() async throws {
        let disk = try disk("size=1m")
        try Data("mine".utf8).write(to: URL(filePath: disk.path("letter.txt")))
        try disk.remount("ro")
        XCTAssertThrowsError(try DiskTier(path: disk.path)) { XCTAssertEqual($0 as? CacheError, .notACache(path: disk.path)) }
    }

    func testThatAFolderThatBecameSomeoneElsesMeanwhileIsLeftAlone() async throws {
        let disk = try disk("size=1m")
        try disk.remount("ro")
        let tier = try DiskTier(path: disk.path("cache"), clock: clock.wallClock, logger: .silent)
        try disk.remount("rw")
        try FileManager.default.createDirectory(atPath: disk.path("cache"), withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: URL(filePath: disk.path("cache/letter.txt")))

        await expectNothingStored(in: tier)

        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: disk.path("cache")), ["letter.txt"])
        try await tier.close()
    }

    func testThatEveryRequestIsAnsweredAndFailuresAreCounted() async throws {
        let disk = try disk("size=1m")
        try disk.remount("ro")
        let tier = try DiskTier(path: disk.path("cache"), clock: clock.wallClock, logger: .silent)
        let cache = Cache(memory: MemoryTier(clock: clock.wallClock), disk: tier, logger: .silent)

        for number in 0..<5 {
            let key = CacheKey(.variant, "\(number)")
            await cache.store(.sample("body \(number)", at: clock), for: key)
            let hit = await cache.entry(for: key)
            XCTAssertEqual(hit?.entry.body, ByteBuffer(string: "body \(number)"))
        }

        await cache.finishStoring()
        XCTAssertEqual(cache.failures, ["disk": 5])
        try await tier.close()
    }

    /// A tier with an entry in its folder, on a disk that has become read-only.
    private func tierOnWhatBecameReadOnly(_ disk: SmallDisk) async throws -> DiskTier {
        let first = try DiskTier(path: disk.path("cache"), clock: clock.wallClock)
        try await first.store(.sample("before", at: clock), for: key)
        try await first.close()
        try disk.remount("ro")
        return try DiskTier(path: disk.path("cache"), clock: clock.wallClock, logger: .silent)
    }

    private func expectNothingStored(in tier: DiskTier, line: UInt = #line) async {
        do {
            try await tier.store(.sample(ByteBuffer(repeating: 1, count: 5000), at: clock), for: CacheKey(.variant, "more"))
            XCTFail("it did not fail", line: line)
        } catch {
            // This is expected.
        }
    }

    private func expectStored(in tier: DiskTier, line: UInt = #line) async throws {
        try await tier.store(.sample("after", at: clock), for: CacheKey(.variant, "after"))
        let found = try await tier.entry(for: CacheKey(.variant, "after"))
        XCTAssertEqual(found?.body, ByteBuffer(string: "after"), line: line)
    }
}
