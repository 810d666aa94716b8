import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

/// Other items in place of entries: they are not served, block no operation, and are replaced.
final class StrangeEntryTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    private enum Thing: CaseIterable {
        case swapped(Swap)
        /// A sparse file of a tebibyte.
        case sparse

        static var allCases: [Thing] { Swap.allCases.map { .swapped($0) } + [.sparse] }

        func apply(to path: String, other: String) throws {
            switch self {
            case .swapped(let swap): try swap.apply(to: path, other: other)
            case .sparse: guard truncate(path, 1 << 40) == 0 else { throw POSIXError(.EFBIG) }
            }
        }
    }

    func testThatWhateverHasAnEntrysNameIsNotServedAndMakesWay() async throws {
        for thing in Thing.allCases {
            // Given a tier in which an entry's file was replaced by another item
            let (tier, path, other) = try await filled()
            let file = try XCTUnwrap(CacheFolder(path).entryFiles().first).path
            try thing.apply(to: file, other: other)
            // When it is requested in every way
            let now = tier.entryNow(for: key, reading: 1 << 20).entry
            let isThere = try await tier.contains(key)
            // None of them is worth a question for memory.
            let found = try await tier.entry(for: key, into: .forSmallEntries)
            // Then it is not found, and can be stored again
            XCTAssertNil(now, "\(thing)")
            XCTAssertFalse(isThere, "\(thing)")
            XCTAssertNil(found, "\(thing)")
            try await tier.store(.sample("again", at: clock, tags: [.source("a")]), for: key)
            let again = try await tier.entry(for: key)
            XCTAssertEqual(again?.body, ByteBuffer(string: "again"), "\(thing)")
            let damaged = try await tier.statistics().total.damaged
            XCTAssertEqual(damaged, 1, "\(thing)")
            try await tier.close()
        }
    }

    func testThatItCanBeStoredOverAtOnceAndPurged() async throws {
        for thing in Thing.allCases {
            let (tier, path, other) = try await filled()
            let file = try XCTUnwrap(CacheFolder(path).entryFiles().first).path
            try thing.apply(to: file, other: other)
            // When it is stored without a lookup, and purged after another replacement
            try await tier.store(.sample("again", at: clock, tags: [.source("a")]), for: key)
            let again = try await tier.entry(for: key)
            try thing.apply(to: file, other: other)
            let removal = try await tier.remove(.tag(.source("a")))
            // Then it was found, and is removed
            XCTAssertEqual(again?.body, ByteBuffer(string: "again"), "\(thing)")
            XCTAssertEqual(removal.entries, 1, "\(thing)")
            let left = try await tier.contains(key)
            XCTAssertFalse(left, "\(thing)")
            try await tier.close()
        }
    }

    func testThatItKeepsNoOtherEntryFromTheIndex() async throws {
        for thing in Thing.allCases {
            // Given ten entries, one of which was replaced, and no index
            let (tier, path, other) = try await filled()
            for number in 1..<10 {
                try await tier.store(.sample(at: clock, tags: [.source("a")]), for: CacheKey(.variant, "\(number)"))
            }
            try await tier.close()
            try thing.apply(to: try XCTUnwrap(CacheFolder(path).entryFiles().first).path, other: other)
            for file in try CacheFolder(path).indexFiles() { try FileManager.default.removeItem(at: file) }
            // When the folder is opened, verified and purged
            let second = try DiskTier(path: path, clock: clock.wallClock, logger: .silent)
            try await second.adopt()
            let verification = try await second.verify(repair: true)
            let removal = try await second.remove(.tag(.source("a")))
            // Then the other nine are known
            XCTAssertEqual(verification.whole, 9, "\(thing)")
            XCTAssertEqual(removal.entries, 9, "\(thing)")
            try await second.close()
        }
    }

    func testThatNoLinkLeadsAStoreOutOfTheFolder() async throws {
        for depth in 1...2 {
            for swap in [Swap.linked, .dangling, .pipe, .fullFolder] {
                // Given a tier in which a folder of entries was replaced
                let (tier, path, other) = try await filled()
                let parts = try XCTUnwrap(CacheFolder(path).entryFiles().first).pathComponents.suffix(3)
                let folder = "\(path)/entries/" + parts.prefix(depth).joined(separator: "/")
                if swap == .linked {
                    try FileManager.default.removeItem(atPath: folder)
                    try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: other)
                } else {
                    try swap.apply(to: folder, other: other)
                }
                // When the entry is stored
                try await tier.store(.sample("again", at: clock), for: key)
                // Then it is found, and nothing was written elsewhere
                let found = try await tier.entry(for: key)
                XCTAssertEqual(found?.body, ByteBuffer(string: "again"), "\(swap) \(depth)")
                XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: other), [], "\(swap) \(depth)")
                try await tier.close()
            }
        }
    }

    private func filled() async throws -> (tier: DiskTier, path: String, other: String) {
        let directory = try temporaryDirectory()
        let (path, other) = (directory.path("cache"), directory.path("other"))
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        let tier = try DiskTier(path: path, clock: clock.wallClock, logger: .silent)
        try await tier.store(.sample("before", at: clock, tags: [.source("a")]), for: key)
        return (tier, path, other)
    }
}
