import Foundation
import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

final class DiskTierFullTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatOnADiskFullOfBytesStoringFailsAndAllElseGoesOn() async throws {
        let disk = try disk("size=2m")
        let tier = try DiskTier(path: disk.path("cache"), minimumFreeSpace: .bytes(0), clock: clock.wallClock)
        try await tier.store(.sample("before", at: clock), for: key)
        try disk.fill()

        await expectFailure("No space left") { () throws(CacheError) in
            try await tier.store(.sample(ByteBuffer(repeating: 1, count: 100_000), at: clock), for: CacheKey(.variant, "more"))
        }

        let found = try await tier.entry(for: key)
        XCTAssertEqual(found?.body, ByteBuffer(string: "before"))
        XCTAssertEqual(try CacheFolder(disk.path("cache")).temporaryFiles(), [])
        try FileManager.default.removeItem(atPath: disk.path("filler"))
        try await tier.store(.sample("after", at: clock), for: key)
        let after = try await tier.entry(for: key)
        XCTAssertEqual(after?.body, ByteBuffer(string: "after"))
        try await tier.close()
    }

    func testThatOnADiskFullOfInodesStoringFailsAndAllElseGoesOn() async throws {
        let disk = try disk("size=2m,nr_inodes=200")
        let tier = try DiskTier(path: disk.path("cache"), clock: clock.wallClock)
        try await tier.store(.sample("before", at: clock), for: key)
        disk.fillInodes()

        await expectFailure("No space left") { () throws(CacheError) in
            try await tier.store(.sample("more", at: clock), for: CacheKey(.variant, "more"))
        }

        let found = try await tier.entry(for: key)
        XCTAssertEqual(found?.body, ByteBuffer(string: "before"))
        XCTAssertEqual(try CacheFolder(disk.path("cache")).temporaryFiles(), [])
        try await tier.close()
    }

    func testThatEveryRequestIsAnsweredWhileTheDiskIsFull() async throws {
        let disk = try disk("size=2m")
        let tier = try DiskTier(path: disk.path("cache"), clock: clock.wallClock)
        let cache = Cache(memory: MemoryTier(clock: clock.wallClock), disk: tier, logger: .silent)
        try disk.fill()

        for number in 0..<50 {
            let key = CacheKey(.variant, "\(number)")
            await cache.store(.sample("body \(number)", at: clock), for: key)
            let hit = await cache.entry(for: key)
            XCTAssertEqual(hit?.entry.body, ByteBuffer(string: "body \(number)"))
        }
        await cache.finishStoring()
        XCTAssertEqual(cache.failures, ["disk": 50])

        let removal = try await cache.remove(.all)
        let figures = await cache.statistics()
        XCTAssertEqual(removal.entries, 50)
        XCTAssertEqual(figures.mapValues(\.total.entries), ["memory": 0, "disk": 0])
        try await tier.close()
    }

    func testThatRoomIsMadeOnAFullDiskByRemoving() async throws {
        let disk = try disk("size=4m")
        let tier = try DiskTier(path: disk.path("cache"), clock: clock.wallClock)
        for number in 0..<20 {
            try await tier.store(
                .sample(ByteBuffer(repeating: 1, count: 50_000), at: clock, tags: [.source("sample")]),
                for: CacheKey(.variant, "\(number)"))
        }
        try disk.fill()

        let removal = try await tier.remove(.tag(.source("sample")))

        XCTAssertEqual(removal.entries, 20)
        try await tier.store(.sample("after", at: clock), for: key)
        try await tier.close()
    }

    func testThatTheFloorOfFreeSpaceIsKept() async throws {
        let disk = try disk("size=4m")
        let floor = 2 << 20
        let tier = try DiskTier(path: disk.path("cache"), minimumFreeSpace: .bytes(floor), clock: clock.wallClock)

        // An entry evicts nothing the first time, but does the second time.
        for number in (0..<100).flatMap({ [$0, $0] }) {
            try await tier.store(.sample(ByteBuffer(repeating: 1, count: 50_000), at: clock), for: CacheKey(.variant, "\(number)"))
        }

        let figures = try await tier.statistics().total
        XCTAssertGreaterThan(figures.entries, 10)
        XCTAssertLessThan(figures.bytes, floor)
        XCTAssertGreaterThan(figures.evictions["free space"] ?? 0, 0)
        try await tier.close()
    }

    func testThatTheUsualFloorIsATwentiethOfTheDisk() async throws {
        for (all, floor) in [(4 << 20, 209_715), (20 << 30, 1 << 30), (4 << 40, 1 << 30), (0, 0)] {
            XCTAssertEqual(MinimumFreeSpace.usual.size(on: all), floor)
        }
        // Given a small disk
        let disk = try disk("size=4m")
        let tier = try DiskTier(path: disk.path("cache"), clock: clock.wallClock)
        // When more is stored than fits
        for number in 0..<100 {
            try await tier.store(.sample(ByteBuffer(repeating: 1, count: 50_000), at: clock), for: CacheKey(.variant, "\(number)"))
        }
        // Then a twentieth of the disk stays free, and nothing has failed
        let space = try FileManager.default.attributesOfFileSystem(forPath: disk.path)
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(space[.systemFreeSize] as? Int), 209_715)
        try await tier.close()
    }

    func testThatAFloorThatCannotBeKeptIsSaid() async throws {
        let disk = try disk("size=4m")
        let tier = try DiskTier(path: disk.path("cache"), minimumFreeSpace: .bytes(8 << 20), clock: clock.wallClock)
        await expectFailure("8388608 must stay free (cache.disk.free)") { () throws(CacheError) in
            try await tier.store(.sample(at: clock), for: key)
        }
        try await tier.close()
    }

    func testThatAFolderThatCannotBeWrittenAnyMoreIsStillReadFrom() async throws {
        let path = try temporaryDirectory().path
        let tier = try DiskTier(path: path, extending: .cacheTime, clock: clock.wallClock)
        try await tier.store(.sample("before", at: clock, cacheTime: .days(1)), for: key)
        // Not by permissions, which do not apply to root.
        do {
            try SmallDisk.run("chattr", ["-R", "+i", path])
        } catch {
            throw XCTSkip("files cannot be made immutable here: \(error)")
        }
        addTeardownBlock { try SmallDisk.run("chattr", ["-R", "-i", path]) }
        clock.advance(by: .seconds(40_000))

        await expectFailure("not permitted") { () throws(CacheError) in
            try await tier.store(.sample("more", at: clock), for: CacheKey(.variant, "more"))
        }

        let found = try await tier.entry(for: key)
        XCTAssertEqual(found?.body, ByteBuffer(string: "before"))
        try SmallDisk.run("chattr", ["-R", "-i", path])
        try await tier.store(.sample("after", at: clock), for: key)
        let after = try await tier.entry(for: key)
        XCTAssertEqual(after?.body, ByteBuffer(string: "after"))
        try await tier.close()
    }

    private func expectFailure(_ reason: String, line: UInt = #line, _ body: () async throws(CacheError) -> Void) async {
        do {
            try await body()
            XCTFail("it did not fail", line: line)
        } catch {
            XCTAssertTrue("\(error)".contains(reason) || "\(error)".contains("full"), "\(error)", line: line)
        }
    }

}
