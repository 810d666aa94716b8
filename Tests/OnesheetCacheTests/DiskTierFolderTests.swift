import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

final class DiskTierFolderTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatAnEntryOutlivesTheProcess() async throws {
        let path = try temporaryDirectory().path
        let first = try DiskTier(path: path, clock: clock.wallClock)
        try await first.store(.sample("kept", at: clock, tags: [.source("sample")]), for: key)
        try await first.close()

        let second = try DiskTier(path: path, clock: clock.wallClock)

        let found = try await second.entry(for: key)
        XCTAssertEqual(found, .sample("kept", at: clock, tags: [.source("sample")]))
        let figures = try await second.statistics().total
        XCTAssertEqual(figures.entries, 1)
        try await second.close()
    }

    func testThatAFolderWithFilesOfSomeoneElseIsRefusedAndLeftAlone() async throws {
        let path = try temporaryDirectory().path
        try FileManager.default.createDirectory(atPath: "\(path)/entries", withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(filePath: "\(path)/holiday.jpg"))
        let before = try FileManager.default.subpathsOfDirectory(atPath: path)

        XCTAssertThrowsError(try DiskTier(path: path)) { XCTAssertEqual($0 as? CacheError, .notACache(path: path)) }

        XCTAssertEqual(try FileManager.default.subpathsOfDirectory(atPath: path), before)
    }

    func testThatAnotherProgramsCacheIsRefused() async throws {
        let path = try temporaryDirectory().path
        try Data("Signature: 8a477f597d28d172789f06886806bc55\n# made by another program\n".utf8)
            .write(to: URL(filePath: "\(path)/CACHEDIR.TAG"))

        XCTAssertThrowsError(try DiskTier(path: path)) { XCTAssertEqual($0 as? CacheError, .notACache(path: path)) }
    }

    func testThatAFileOfSomeoneElseInAFolderOfOursIsNeverTouched() async throws {
        let path = try temporaryDirectory().path
        let tier = try DiskTier(path: path, clock: clock.wallClock)
        try await tier.store(.sample(at: clock), for: key)
        let strangers = ["\(path)/notes.txt", "\(path)/index-old.txt"]
        for stranger in strangers { try Data("mine".utf8).write(to: URL(filePath: stranger)) }

        _ = try await tier.remove(.all)
        try await tier.sweep()
        _ = try await tier.verify(repair: true)
        try await tier.close()
        let again = try DiskTier(path: path, clock: clock.wallClock)
        try await again.close()

        for stranger in strangers { XCTAssertEqual(try String(contentsOfFile: stranger, encoding: .utf8), "mine") }
    }

    func testThatADeletedFolderComesBackByItself() async throws {
        let path = try temporaryDirectory().path("cache")
        let tier = try DiskTier(path: path, clock: clock.wallClock)
        try await tier.store(.sample("before", at: clock), for: key)
        try FileManager.default.removeItem(atPath: path)

        let gone = try await tier.entry(for: key)
        try await tier.store(.sample("after", at: clock), for: key)

        XCTAssertNil(gone)
        let found = try await tier.entry(for: key)
        XCTAssertEqual(found?.body, ByteBuffer(string: "after"))
        let figures = try await tier.statistics().total
        XCTAssertEqual(figures.entries, 1)
        try await tier.close()
    }

    func testThatWhateverPartOfTheFolderIsDeletedComesBackByItself() async throws {
        let path = try temporaryDirectory().path("cache")
        let tier = try DiskTier(path: path, clock: clock.wallClock)
        try await tier.store(.sample("before", at: clock), for: key)

        for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted() {
            // Its dependencies may already be deleted.
            if FileManager.default.fileExists(atPath: "\(path)/\(name)") {
                try FileManager.default.removeItem(atPath: "\(path)/\(name)")
            }
            try await tier.store(.sample("without \(name)", at: clock, tags: [CacheTag(name)]), for: key)
            let found = try await tier.entry(for: key)
            XCTAssertEqual(found?.body, ByteBuffer(string: "without \(name)"))
            let removal = try await tier.remove(.tag(CacheTag(name)))
            XCTAssertEqual(removal.entries, 1, name)
        }
        try await tier.close()
    }

    func testThatEntriesAreAdoptedWhenTheIndexIsLost() async throws {
        let path = try temporaryDirectory().path
        let first = try DiskTier(path: path, clock: clock.wallClock)
        for number in 0..<100 {
            try await first.store(
                .sample(at: clock, tags: [.source(number < 30 ? "a" : "b")]), for: CacheKey(.variant, "\(number)"))
        }
        try await first.close()
        for file in try CacheFolder(path).indexFiles() { try FileManager.default.removeItem(at: file) }

        let second = try DiskTier(path: path, clock: clock.wallClock)
        let removal = try await second.remove(.tag(.source("a")))

        XCTAssertEqual(removal.entries, 30)
        let figures = try await second.statistics().total
        XCTAssertEqual(figures.entries, 70)
        try await second.close()
    }

    func testThatADamagedIndexIsMadeAgainFromTheFiles() async throws {
        for damage in IndexDamage.allCases {
            let path = try temporaryDirectory().path
            let tier = try DiskTier(path: path, clock: clock.wallClock)
            for number in 0..<20 {
                try await tier.store(.sample(at: clock, tags: [.source("a")]), for: CacheKey(.variant, "\(number)"))
            }
            for file in try CacheFolder(path).indexFiles() { try damage.apply(to: file) }

            try await tier.store(.sample("after", at: clock), for: key)
            let found = try await tier.entry(for: key)
            let removal = try await tier.remove(.tag(.source("a")))

            XCTAssertEqual(found?.body, ByteBuffer(string: "after"), "\(damage)")
            XCTAssertEqual(removal.entries, 20, "\(damage)")
            try await tier.close()
        }
    }

    func testThatADamagedIndexIsMadeAgainAtTheStart() async throws {
        for damage in IndexDamage.allCases {
            let path = try temporaryDirectory().path
            let first = try DiskTier(path: path, clock: clock.wallClock)
            for number in 0..<20 {
                try await first.store(.sample(at: clock, tags: [.source("a")]), for: CacheKey(.variant, "\(number)"))
            }
            try await first.close()
            for file in try CacheFolder(path).indexFiles() { try damage.apply(to: file) }

            let second = try DiskTier(path: path, clock: clock.wallClock)
            let removal = try await second.remove(.tag(.source("a")))

            XCTAssertEqual(removal.entries, 20, "\(damage)")
            try await second.close()
        }
    }

    func testThatADamagedMarkerDoesNotLoseTheCache() async throws {
        let path = try temporaryDirectory().path
        let first = try DiskTier(path: path, clock: clock.wallClock)
        try await first.store(.sample("kept", at: clock), for: key)
        try await first.close()
        try Data("damaged".utf8).write(to: URL(filePath: "\(path)/CACHEDIR.TAG"))

        let second = try DiskTier(path: path, clock: clock.wallClock)

        let found = try await second.entry(for: key)
        XCTAssertEqual(found?.body, ByteBuffer(string: "kept"))
        let figures = try await eventually(second)
        XCTAssertEqual(figures.entries, 1)
        try await second.close()
    }

    func testThatAnIndexFromBeforeTheMachineWentDownIsNotTrusted() async throws {
        let path = try temporaryDirectory().path
        let first = try DiskTier(path: path, clock: clock.wallClock)
        try await first.store(.sample("kept", at: clock, tags: [.source("a")]), for: key)
        try await first.close()
        let before = try CacheFolder(path).indexFiles()
        try SQLiteFile(before[0]).execute("UPDATE setting SET value = 'another start' WHERE name = 'boot'; DELETE FROM entry")

        let second = try DiskTier(path: path, clock: clock.wallClock)
        let removal = try await second.remove(.tag(.source("a")))

        XCTAssertEqual(removal.entries, 1)
        XCTAssertNotEqual(try CacheFolder(path).indexFiles(), before)
        try await second.close()
    }

    /// The counts after all files were indexed: an empty removal waits for that.
    private func eventually(_ tier: DiskTier) async throws -> CacheFigures {
        _ = try await tier.remove(.tag(CacheTag("nobody has this")))
        return try await tier.statistics().total
    }
}

private enum IndexDamage: CaseIterable {
    case emptied, truncated, overwritten, removed

    func apply(to file: URL) throws {
        switch self {
        case .emptied: try FileHandle(forUpdating: file).truncate(atOffset: 0)
        case .truncated: try FileHandle(forUpdating: file).truncate(atOffset: 5000)
        case .overwritten: try FileHandle(forUpdating: file).write(contentsOf: Data(repeating: 0x5A, count: 20_000))
        case .removed: try FileManager.default.removeItem(at: file)
        }
    }
}
