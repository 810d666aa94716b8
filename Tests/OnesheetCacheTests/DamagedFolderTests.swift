import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetCache

/// Damaged cache folders: a tier opens them, logs the damage, and leaves foreign files unchanged.
final class DamagedFolderTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatWhateverIsDamagedInTheFolderATierOpensItAndKeepsItsEntries() async throws {
        for name in ["CACHEDIR.TAG", "index", "lock", "tmp", "trash"] {
            // Another folder in place of a folder is a folder.
            let isFolder = ["tmp", "trash"].contains(name)
            for swap in Swap.allCases where !isFolder || !swap.isFile && swap != .folder && swap != .fullFolder {
                // Given a cache with an entry
                let (path, other) = try await cache()
                let file = name == "index" ? try XCTUnwrap(index(path)) : "\(path)/\(name)"
                let log = LogRecorder()
                // When a part of it is damaged
                try swap.apply(to: file, other: other)
                let tier = try DiskTier(path: path, clock: clock.wallClock, logger: log.logger)
                // Then the tier opens, finds the entry, knows its tag and stores
                let what = "\(name) \(swap)"
                let found = try await tier.entry(for: key)
                XCTAssertEqual(found?.body, ByteBuffer(string: "kept"), what)
                try await tier.store(.sample("after", at: clock, tags: [.source("a")]), for: CacheKey(.variant, "after"))
                let removal = try await tier.remove(.tag(.source("a")))
                XCTAssertEqual(removal.entries, 2, what)
                try await tier.close()
                try expectUntouched(other, swap, what: what)
                // And a lost item is set aside, with one line in the log
                if name != "lock" { try expectKept(path, swap, log: log, what: what) }
            }
        }
    }

    func testThatWhereTheEntriesShouldBeSomethingElseIsKeptAndTheTierWorks() async throws {
        for swap in Swap.allCases where !swap.isFile && swap != .folder && swap != .fullFolder {
            // Given a cache whose folder of entries was replaced by another item
            let (path, other) = try await cache()
            try swap.apply(to: "\(path)/entries", other: other)
            let log = LogRecorder()
            // When it is opened
            let tier = try DiskTier(path: path, clock: clock.wallClock, logger: log.logger)
            // Then it finds nothing, stores, and finds the stored entry
            let lost = try await tier.entry(for: key)
            XCTAssertNil(lost, "\(swap)")
            try await tier.store(.sample("after", at: clock), for: key)
            let found = try await tier.entry(for: key)
            XCTAssertEqual(found?.body, ByteBuffer(string: "after"), "\(swap)")
            try await tier.close()
            try expectUntouched(other, swap, what: "\(swap)")
            try expectKept(path, swap, log: log, what: "\(swap)")
        }
    }

    func testThatADamagedMarkerBesideSomebodysFileDoesNotLoseTheCacheOrTheFile() async throws {
        // Given a cache with a note of a person and a damaged marker
        let (path, _) = try await cache()
        try Swap.treasure.write(to: URL(filePath: "\(path)/notes.txt"))
        try Data("damaged".utf8).write(to: URL(filePath: "\(path)/CACHEDIR.TAG"))
        // When it is opened
        let tier = try DiskTier(path: path, clock: clock.wallClock, logger: .silent)
        // Then the entry is found, and the note is unchanged
        let found = try await tier.entry(for: key)
        XCTAssertEqual(found?.body, ByteBuffer(string: "kept"))
        try await tier.close()
        XCTAssertEqual(try Data(contentsOf: URL(filePath: "\(path)/notes.txt")), Swap.treasure)
    }

    func testThatNoMoreThanAFewDamagedFilesAreKept() async throws {
        let (path, _) = try await cache()
        for number in 1...6 {
            // When marker and index are damaged repeatedly
            clock.advance(by: .seconds(1))
            try Data("damaged \(number)".utf8).write(to: URL(filePath: "\(path)/CACHEDIR.TAG"))
            var tier = try DiskTier(path: path, clock: clock.wallClock, logger: .silent)
            try await tier.close()
            try Swap.zeroed.apply(to: try XCTUnwrap(index(path)), other: path)
            tier = try DiskTier(path: path, clock: clock.wallClock, logger: .silent)
            try await tier.close()
        }
        // Then the last three markers are kept, and one index
        let kept = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.contains(".damaged-") }.sorted()
        XCTAssertEqual(kept.count { $0.hasPrefix("index-") }, 1, "\(kept)")
        let markers = try kept.filter { $0.hasPrefix("CACHEDIR.TAG") }.map {
            try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8)
        }
        XCTAssertEqual(markers, ["damaged 4", "damaged 5", "damaged 6"])
    }

    func testThatAnIndexOfAnotherVersionIsMadeAgain() async throws {
        for change in ["PRAGMA user_version = 7", "ALTER TABLE entry ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'"] {
            // Given an index that a newer version has changed
            let (path, _) = try await cache()
            try SQLiteFile(URL(filePath: try XCTUnwrap(index(path)))).execute(change)
            let log = LogRecorder()
            // When it is opened
            let tier = try DiskTier(path: path, clock: clock.wallClock, logger: log.logger)
            // Then the entries are indexed again, and the other index is set aside
            let removal = try await tier.remove(.tag(.source("a")))
            XCTAssertEqual(removal.entries, 1, change)
            try await tier.close()
            XCTAssertEqual(log.all.count { $0.contains("the damaged index of the cache is rebuilt") }, 1, "\(change): \(log.all)")
        }
    }

    func testThatValuesOfAnotherTypeInTheIndexEndNothing() async throws {
        for damage in [
            "entry SET bytes = 'many'", "entry SET kind = x'00'", "entry SET uses = 9223372036854775807",
            "entry SET bytes = -9223372036854775808", "entry SET name = x'01'", "total SET bytes = 'many'",
            "total SET entries = -1",
            "held SET bytes = 9223372036854775807", "setting SET value = '9223372036854775807'", "setting SET value = x'FF'",
            "total SET inflation = 9e999",
        ] {
            // Given an index with a changed value
            let (path, _) = try await cache()
            let file = try XCTUnwrap(index(path))
            try SQLiteFile(URL(filePath: file)).execute("UPDATE \(damage); UPDATE setting SET value = 'none' WHERE name = 'boot'")
            // When every operation that uses the index is called
            let tier = try DiskTier(path: path, budgets: DiskBudgets(bytes: 1 << 20), clock: clock.wallClock, logger: .silent)
            _ = try await tier.entry(for: key)
            try await tier.store(.sample("after", at: clock, tags: [.source("a")]), for: CacheKey(.variant, "after"))
            _ = try await tier.statistics()
            _ = try await tier.generation()
            try await tier.forEachKey { _ in }
            try await tier.sweep()
            // Then it succeeds, and the tag matches the entries
            _ = try await tier.remove(.tag(.source("a")))
            let left = try await tier.entry(for: CacheKey(.variant, "after"))
            XCTAssertNil(left, damage)
            try await tier.close()
        }
    }

    func testThatAWriteAheadLogOfAnotherDatabaseIsNotReplayed() async throws {
        // Given a stray log beside the index
        let (path, _) = try await cache()
        try Data(repeating: 1, count: 10_000).write(to: URL(filePath: try XCTUnwrap(index(path)) + "-wal"))
        // When the cache is opened
        let tier = try DiskTier(path: path, clock: clock.wallClock, logger: .silent)
        // Then all entries are found
        let removal = try await tier.remove(.tag(.source("a")))
        XCTAssertEqual(removal.entries, 1)
        try await tier.close()
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix("-wal") }, [])
    }

    func testThatNoLinkLeadsARemovalOutOfTheFolder() async throws {
        // Given links to a foreign folder in place of sessions and trash
        let (path, other) = try await cache()
        try Swap.treasure.write(to: URL(filePath: "\(other)/letter"))
        let names = ["tmp/\(String(repeating: "a", count: 32))", "trash/1", "trash/2"]
        for name in names.prefix(2) {
            try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: other)
        }
        try FileManager.default.createDirectory(atPath: "\(path)/trash/2", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: "\(path)/trash/2/link", withDestinationPath: other)
        // When the tier cleans up
        let tier = try DiskTier(path: path, clock: clock.wallClock, logger: .silent)
        try await tier.sweep()
        try await tier.close()
        // Then the links are removed, and their target is unchanged
        for name in names { XCTAssertFalse(try exists("\(path)/\(name)"), name) }
        XCTAssertEqual(try Data(contentsOf: URL(filePath: "\(other)/letter")), Swap.treasure)
    }

    func testThatWhatAnEarlierVersionLeftIsRemovedAndItsLivingSessionsAreNot() async throws {
        // Given leftovers of a dead session and a removal under the names of earlier versions, and a live session
        let (path, _) = try await cache()
        let session = String(repeating: "a", count: 32)
        for name in ["incoming/\(session)", "incoming/\(String(repeating: "b", count: 32))", "doomed/1"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
            try Data("left".utf8).write(to: URL(filePath: "\(path)/\(name)/1"))
        }
        let life = try OpenFile("\(path)/incoming/\(session)/alive", for: .locking)
        try life.lock(waiting: false)
        // When the tier cleans up, then only the live session remains
        let tier = try DiskTier(path: path, clock: clock.wallClock, logger: .silent)
        try await tier.sweep()
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: "\(path)/incoming"), [session])
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: "\(path)/doomed"), [])
        // And after its end, nothing remains
        try FileManager.default.removeItem(atPath: "\(path)/incoming/\(session)")
        try await tier.sweep()
        XCTAssertFalse(try exists("\(path)/incoming") || exists("\(path)/doomed"))
        let found = try await tier.entry(for: key)
        XCTAssertNotNil(found)
        try await tier.close()
        withExtendedLifetime(life) {}
    }

    /// A closed cache with one entry, and a foreign folder.
    private func cache() async throws -> (path: String, other: String) {
        let directory = try temporaryDirectory()
        let (path, other) = (directory.path("cache"), directory.path("other"))
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        let tier = try DiskTier(path: path, clock: clock.wallClock)
        try await tier.store(.sample("kept", at: clock, tags: [.source("a")]), for: key)
        try await tier.close()
        return (path, other)
    }

    private func index(_ path: String) throws -> String? {
        try FileManager.default.contentsOfDirectory(atPath: path).first { $0.hasPrefix("index-") && $0.hasSuffix(".sqlite") }
            .map { "\(path)/\($0)" }
    }

    private func exists(_ path: String) throws -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0
    }

    private func expectUntouched(_ other: String, _ swap: Swap, what: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: other)
        XCTAssertEqual(names, swap == .linked ? ["letter"] : [], what)
        if swap == .linked { XCTAssertEqual(try Data(contentsOf: URL(filePath: "\(other)/letter")), Swap.treasure, what) }
    }

    private func expectKept(_ path: String, _ swap: Swap, log: LogRecorder, what: String) throws {
        let kept = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.contains(".damaged-") }
        XCTAssertEqual(kept.count, 1, "\(what): \(kept)")
        XCTAssertEqual(log.all.count { $0.contains("kept as") }, 1, "\(what): \(log.all)")
        guard swap == .fullFolder, let name = kept.first else { return }
        XCTAssertEqual(try Data(contentsOf: URL(filePath: "\(path)/\(name)/letter")), Swap.treasure, what)
    }
}
