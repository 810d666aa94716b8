import OnesheetCore
import OnesheetTesting
import SharedFolderTier
import XCTest

final class SharedFolderTierTests: XCTestCase {
    func testThatItDoesWhatEveryTierHasToDo() async throws {
        let folder = try TemporaryDirectory()
        // Reads never extend an entry's lifetime in this tier.
        let conformance = TierConformance(extends: false) { clock, expires, _ in
            try SharedFolderTier(path: folder.path("\(UInt64.random(in: 0 ... .max))"), expires: expires, clock: clock)
        }

        let report = await conformance.run()

        XCTAssertEqual(report.failures.map(\.description), [])
    }

    func testThatTwoServersShareIt() async throws {
        // Given two servers that share a folder
        let (folder, clock) = (try TemporaryDirectory(), ManualClock())
        let (one, other) = (try tier(folder, clock), try tier(folder, clock))
        let key = CacheKey(.variant, "sample://1#w342.jpg")
        let generation = try await one.generation()
        // When one of them stores an entry, then the other finds it
        _ = try await one.store(.sample(at: clock), for: key, ifGeneration: generation)
        let found = try await other.entry(for: key)
        XCTAssertEqual(found, .sample(at: clock))
        // When the other purges, then results of earlier work are not stored
        _ = try await other.raiseGeneration()
        try await other.remove(key)
        let isStored = try await one.store(.sample(at: clock), for: key, ifGeneration: generation)
        XCTAssertFalse(isStored)
        let gone = try await one.contains(key)
        XCTAssertFalse(gone)
    }

    func testThatItsSampleConfigurationIsRead() throws {
        let sample = ConfigurationValue.mapping(["path": .scalar("/mnt/posters"), "expires": .scalar("30d")])

        XCTAssertNoThrow(try ConfigurationDecoder().decode(SharedFolderTier.Configuration.self, from: sample))
    }

    private func tier(_ folder: TemporaryDirectory, _ clock: ManualClock) throws -> SharedFolderTier {
        try SharedFolderTier(path: folder.path("shared"), expires: .never, clock: clock.wallClock)
    }
}
