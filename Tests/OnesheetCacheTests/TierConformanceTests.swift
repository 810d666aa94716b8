import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

final class TierConformanceTests: XCTestCase {
    func testThatTheMemoryTierDoesWhatEveryTierHasToDo() async {
        let conformance = TierConformance { MemoryTier(bytes: 10 << 20, expires: $1, extending: $2, clock: $0) }

        let report = await conformance.run()

        XCTAssertEqual(report.failures.map(\.description), [])
    }

    func testThatTheDiskTierDoesWhatEveryTierHasToDo() async throws {
        let folder = try temporaryDirectory()
        let conformance = TierConformance { clock, expires, extending in
            try DiskTier(
                path: folder.path("\(UInt64.random(in: 0 ... .max))"), budgets: DiskBudgets(bytes: 100 << 20), expires: expires,
                extending: extending, isSynced: false, clock: clock)
        }

        let report = await conformance.run()

        XCTAssertEqual(report.failures.map(\.description), [])
    }

    func testThatATierThatAnswersWithAnotherKeysEntryIsFound() async {
        let conformance = TierConformance { clock, _, _ in ForgetfulOfKeys(clock: clock) }

        let report = await conformance.run()

        XCTAssertFalse(report.failures.isEmpty)
        XCTAssertTrue(report.failures.contains { $0.rule == "equal texts of two kinds are two keys" })
    }
}

/// A defective tier that ignores the kind of keys.
private struct ForgetfulOfKeys: CacheTier {
    let name = "forgetful"
    private let memory: MemoryTier
    private let only = CacheKey(.original, "")

    init(clock: WallClock) { memory = MemoryTier(expires: .never, clock: clock) }

    func entry(for key: CacheKey) async -> CacheEntry? { await memory.entry(for: only) }
    func contains(_ key: CacheKey) async -> Bool { await memory.contains(only) }
    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async -> Bool {
        await memory.store(entry, for: only, ifGeneration: generation)
    }
    func generation() async -> Int { memory.generation }
    func raiseGeneration() async -> Int { await memory.raiseGeneration() }
    func remove(_ key: CacheKey) async { await memory.remove(only) }
    func remove(_ selection: CacheSelection, dryRun: Bool) async -> CacheRemoval { await memory.remove(selection, dryRun: dryRun) }
    func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async { await memory.forEachKey(visit) }
    func statistics() async -> CacheStatistics { await memory.statistics() }
}
