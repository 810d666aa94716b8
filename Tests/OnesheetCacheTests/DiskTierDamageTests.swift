import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

final class DiskTierDamageTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatNoFlippedByteAnywhereInAFileIsServed() async throws {
        let (tier, folder) = try tier()
        try await tier.store(sample(), for: key)
        let file = try XCTUnwrap(folder.entryFiles().first)
        let whole = try Data(contentsOf: file)

        for place in 0..<whole.count {
            var flipped = whole
            flipped[place] ^= 1 << UInt8(place % 8)
            try flipped.write(to: file)
            XCTAssertNil(tier.entryNow(for: key, reading: 1 << 20).entry, "byte \(place) of \(whole.count)")
            let found = try await tier.entry(for: key)
            XCTAssertNil(found, "byte \(place) of \(whole.count)")
            XCTAssertFalse(FileManager.default.fileExists(atPath: file.path), "byte \(place): the damaged file is still there")
        }

        let figures = try await tier.statistics().total
        XCTAssertEqual(figures.damaged, whole.count)
        try await tier.close()
    }

    func testThatAFileThatWasCheckedIsCheckedAgainOnceItChanges() async throws {
        // Given a file that was read and is remembered as intact
        clock.now = Date().addingTimeInterval(10)
        let (tier, folder) = try tier()
        try await tier.store(sample(), for: key)
        let file = try XCTUnwrap(folder.entryFiles().first)
        let whole = try Data(contentsOf: file)
        for _ in 0..<2 { XCTAssertEqual(tier.entryNow(for: key, reading: 1 << 20).entry?.entry, sample()) }
        // When a byte of its body changes in place, and its modification time is set back
        let modified = try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate]
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: UInt64(whole.count - 1))
        try handle.write(contentsOf: [whole[whole.count - 1] ^ 1])
        try handle.close()
        try FileManager.default.setAttributes([.modificationDate: try XCTUnwrap(modified)], ofItemAtPath: file.path)
        // Then it is not served
        XCTAssertNil(tier.entryNow(for: key, reading: 1 << 20).entry)
        try await tier.close()
    }

    func testThatNoTruncatedFileIsServed() async throws {
        let (tier, folder) = try tier()
        try await tier.store(sample(), for: key)
        let file = try XCTUnwrap(folder.entryFiles().first)
        let whole = try Data(contentsOf: file)

        for length in 0..<whole.count {
            try whole.prefix(length).write(to: file)
            XCTAssertNil(tier.entryNow(for: key, reading: 1 << 20).entry, "\(length) bytes of \(whole.count)")
            let found = try await tier.entry(for: key)
            XCTAssertNil(found, "\(length) bytes of \(whole.count)")
        }

        let figures = try await tier.statistics().total
        XCTAssertEqual(figures.damaged, whole.count)
        try await tier.close()
    }

    func testThatAFileWithMoreBytesThanWereWrittenIsNotServed() async throws {
        let (tier, folder) = try tier()
        try await tier.store(sample(), for: key)
        let file = try XCTUnwrap(folder.entryFiles().first)

        try (Data(contentsOf: file) + Data([0])).write(to: file)

        let found = try await tier.entry(for: key)
        XCTAssertNil(found)
        try await tier.close()
    }

    func testThatFilesThatChangedPlacesAreNotServed() async throws {
        let (tier, folder) = try tier()
        let other = CacheKey(.variant, "another poster")
        try await tier.store(sample(), for: key)
        try await tier.store(.sample("another", at: clock), for: other)
        let files = try folder.entryFiles()
        let contents = try files.map { try Data(contentsOf: $0) }

        try contents[0].write(to: files[1])
        try contents[1].write(to: files[0])

        let found = [try await tier.entry(for: key), try await tier.entry(for: other)]
        XCTAssertEqual(found, [nil, nil])
        let figures = try await tier.statistics().total
        XCTAssertEqual(figures.damaged, 2)
        XCTAssertEqual(figures.entries, 0)
        try await tier.close()
    }

    func testThatADamagedEntryCanBeStoredAgain() async throws {
        let (tier, folder) = try tier()
        try await tier.store(sample(), for: key)
        try Data().write(to: try XCTUnwrap(folder.entryFiles().first))
        _ = try await tier.entry(for: key)

        try await tier.store(sample(), for: key)

        let found = try await tier.entry(for: key)
        XCTAssertEqual(found, sample())
        try await tier.close()
    }

    func testThatVerifyingFindsDamageAndRepairsIt() async throws {
        let (tier, folder) = try tier()
        for number in 0..<10 { try await tier.store(sample(), for: CacheKey(.variant, "\(number)")) }
        let files = try folder.entryFiles()
        try Data("junk".utf8).write(to: files[0])
        try FileManager.default.removeItem(at: files[1])

        let found = try await tier.verify(repair: false)
        let repaired = try await tier.verify(repair: true)
        let after = try await tier.verify(repair: false)

        XCTAssertEqual([found.whole, found.damaged, found.missing, found.unknown], [8, 1, 1, 0])
        XCTAssertEqual([repaired.whole, repaired.damaged, repaired.missing, repaired.unknown], [8, 1, 1, 0])
        XCTAssertTrue(after.isClean)
        XCTAssertEqual(after.whole, 8)
        try await tier.close()
    }

    private func sample() -> CacheEntry {
        var entry = CacheEntry.sample("one poster", at: clock, cacheTime: .days(1), tags: [.source("sample")])
        entry.provenance.location = "x"
        return entry
    }

    private func tier() throws -> (DiskTier, CacheFolder) {
        let directory = try temporaryDirectory()
        return (try DiskTier(path: directory.path, clock: clock.wallClock), CacheFolder(directory.path))
    }
}
