import Foundation
import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

/// Only the owner may read the cache's files, regardless of the umask.
final class PermissionTests: XCTestCase {
    private let clock = ManualClock()

    func testThatAllThatIsWrittenIsTheOwnersAlone() async throws {
        for mask: mode_t in [0, 0o022, 0o777] {
            let path = try temporaryDirectory().path("a/cache")
            let before = umask(mask)
            defer { umask(before) }
            // When a tier and a state have done all their operations
            let tier = try DiskTier(path: path, clock: clock.wallClock, logger: .silent)
            let state = try StateStore(folder: path, logger: .silent)
            for number in 0..<20 {
                try await tier.store(.sample("\(number)", at: clock, tags: [.source("a")]), for: CacheKey(.variant, "\(number)"))
                try await state.part("posters").set("pinned", for: "\(number)")
            }
            // Then others have no permissions, and the owner has all
            XCTAssertEqual(try FolderSnapshot.loose(in: path), [], "\(mask)")
            XCTAssertTrue(try FolderSnapshot(path).items.keys.contains("state.sqlite-journal"))
            try Swap.zeroed.apply(to: "\(path)/state.sqlite", other: path)
            try await state.part("posters").set("pinned", for: "again")
            _ = try await tier.remove(.tag(.source("a")))
            try await tier.sweep()
            try await tier.close()
            XCTAssertEqual(try FolderSnapshot.loose(in: path), [], "\(mask)")
        }
    }

    func testThatAFolderOfOursThatOthersMayEnterIsClosedToThem() async throws {
        // Given a cache and a state of an older version, readable by everyone
        let path = try temporaryDirectory().path("cache")
        try await DiskTier(path: path, clock: clock.wallClock, logger: .silent).close()
        _ = try StateStore(folder: path, logger: .silent)
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) + [""] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(path)/\(name)")
        }
        let log = LogRecorder()
        // When they are opened twice
        for _ in 0..<2 {
            try await DiskTier(path: path, clock: clock.wallClock, logger: log.logger).close()
            _ = try StateStore(folder: path, logger: log.logger)
        }
        // Then others have no permissions, with one line in the log
        XCTAssertEqual(try FolderSnapshot.loose(in: path), [])
        XCTAssertEqual(log.all.count, 1, "\(log.all)")
        XCTAssertTrue(log.all.first?.contains("open to other users") ?? false, "\(log.all)")
    }

    func testThatAFileThatItsOwnerMayNotReadIsMadeReadable() async throws {
        // Given a cache without any permissions
        let path = try temporaryDirectory().path("cache")
        try await DiskTier(path: path, clock: clock.wallClock, logger: .silent).close()
        try await StateStore(folder: path, logger: .silent).part("posters").set("pinned", for: "1")
        for name in try FileManager.default.contentsOfDirectory(atPath: path)
        where name.hasPrefix("state") || name.hasPrefix("index") {
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: "\(path)/\(name)")
        }
        // When it is opened
        try await DiskTier(path: path, clock: clock.wallClock, logger: .silent).close()
        let value = try await StateStore(folder: path, logger: .silent).part("posters").value(for: "1")
        // Then all entries are found
        XCTAssertEqual(value, "pinned")
        XCTAssertEqual(try FolderSnapshot.loose(in: path), [])
    }

    func testThatALookAtTheFolderChangesNothing() async throws {
        let directory = try temporaryDirectory()
        // Given a cache, an empty folder, a file and a foreign folder
        let tier = try DiskTier(path: directory.path("cache"), clock: clock.wallClock, logger: .silent)
        try await tier.store(.sample(at: clock), for: CacheKey(.variant, "1"))
        try await tier.close()
        for name in ["empty", "letters"] {
            try FileManager.default.createDirectory(atPath: directory.path(name), withIntermediateDirectories: false)
        }
        for name in ["letters/letter", "file"] { try Swap.treasure.write(to: URL(filePath: directory.path(name))) }
        let before = try FolderSnapshot(directory.path)
        // When each is examined, and missing paths too
        for name in ["cache", "empty", "new", "new/and/deep"] {
            XCTAssertNil(try FolderExamination.requireUsable(directory.path(name)), name)
        }
        XCTAssertThrowsError(try FolderExamination.requireUsable(directory.path("letters"))) {
            XCTAssertEqual($0 as? CacheError, .notACache(path: directory.path("letters")))
        }
        for name in ["file", "file/below"] { XCTAssertThrowsError(try FolderExamination.requireUsable(directory.path(name)), name) }
        // Then nothing has changed
        XCTAssertEqual(try FolderSnapshot(directory.path), before)
    }

    func testThatALookAtADiskThatCannotBeWrittenSaysSo() async throws {
        let disk = try disk("size=1m")
        try await DiskTier(path: disk.path("cache"), clock: clock.wallClock, logger: .silent).close()
        try disk.remount("ro")
        for name in ["cache", "new"] {
            let openError = try FolderExamination.requireUsable(disk.path(name))
            XCTAssertTrue("\(String(describing: openError))".contains("Read-only"), "\(String(describing: openError))")
        }
    }
}
