import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

/// Keys that look the same, across a restart: file names depend on bytes, so keys that memory confuses would come back as two.
final class LookalikeKeysTests: XCTestCase {
    func testThatEachKeyFindsItsOwnAfterARestart() async throws {
        // Given a tier with an entry under each of two lookalike keys
        let (folder, clock) = (try temporaryDirectory(), ManualClock())
        func tier() throws -> DiskTier {
            try DiskTier(path: folder.path("cache"), isSynced: false, clock: clock.wallClock, logger: .silent)
        }
        let before = try tier()
        for (one, other) in LookalikeTexts.pairs {
            try await before.store(.sample("1\(one)", at: clock, tags: [CacheTag(one)]), for: CacheKey(.variant, one))
            try await before.store(.sample("2\(one)", at: clock, tags: [CacheTag(other)]), for: CacheKey(.variant, other))
        }
        try await before.close()
        // When it is started again
        let after = try tier()
        for (one, other) in LookalikeTexts.pairs {
            let found = [
                try await after.entry(for: CacheKey(.variant, one))?.body,
                try await after.entry(for: CacheKey(.variant, other))?.body,
            ]
            // Then each key finds its own entry, and removing a tag affects no other
            XCTAssertEqual(found, [ByteBuffer(string: "1\(one)"), ByteBuffer(string: "2\(one)")])
            let removed = try await after.remove(.tag(CacheTag(other)), dryRun: false)
            XCTAssertEqual(removed.entries, 1)
            let left = try await after.contains(CacheKey(.variant, one))
            XCTAssertTrue(left)
        }
        try await after.close()
    }
}
