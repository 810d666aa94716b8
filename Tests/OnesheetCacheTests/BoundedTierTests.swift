import Logging
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetCache

/// Requests succeed even if a plugin's tier fails or hangs.
final class BoundedTierTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "sample://1#w92.jpg")

    func testThatATierBehindADeadlineDoesWhatEveryTierHasToDo() async {
        let conformance = TierConformance { clock, expires, extending in
            BoundedTier(
                MemoryTier(bytes: 10 << 20, expires: expires, extending: extending, clock: clock), named: "bounded",
                deadline: .seconds(60))
        }

        let report = await conformance.run()

        XCTAssertEqual(report.failures.map(\.description), [])
    }

    func testThatATierThatHangsIsPassedByAndThenRests() async {
        // Given a tier that never answers
        let calls = Gate()
        let hung = BoundedTier(HungTier(gate: calls), named: "hung", deadline: .milliseconds(20))
        // When it is called
        await expect("no answer within", hung)
        // Then it is skipped for a while
        await expect("skipped for a while", hung)
        // And a cache with it finds, stores and removes in its other tiers
        let cache = Cache(
            memory: MemoryTier(clock: clock.wallClock), further: [hung],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        await cache.store(.sample(at: clock), for: key, ifGeneration: await cache.generation())
        let found = await cache.entry(for: key)
        let missed = await cache.entry(for: CacheKey(.variant, "other"))
        XCTAssertEqual(found?.tier, "memory")
        XCTAssertNil(missed)
        calls.open()
    }

    private func expect(_ text: String, _ tier: BoundedTier) async {
        do {
            _ = try await tier.entry(for: key)
            XCTFail("it answered")
        } catch {
            XCTAssertTrue("\(error)".contains(text), "\(error)")
        }
    }
}

/// A tier that answers after a gate opens.
private struct HungTier: CacheTier {
    let name = "hung"
    let gate: Gate

    func entry(for key: CacheKey) async -> CacheEntry? {
        do { try await gate.pass() } catch { return nil }
        return nil
    }
    func contains(_ key: CacheKey) async -> Bool { await entry(for: key) != nil }
    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async -> Bool { await contains(key) }
    func remove(_ key: CacheKey) async { _ = await entry(for: key) }
    func remove(_ selection: CacheSelection, dryRun: Bool) async -> CacheRemoval { CacheRemoval() }
    func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async {}
    func statistics() async -> CacheStatistics { CacheStatistics() }
    func generation() async -> Int { 0 }
    func raiseGeneration() async -> Int { 1 }
}
