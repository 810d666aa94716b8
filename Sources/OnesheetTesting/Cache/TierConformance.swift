internal import FoundationEssentials
public import OnesheetCore

/// The rules that every cache tier has to follow. The tests of a tier run them; `report.failures` has to be empty.
public struct TierConformance: Sendable {
    /// Makes an empty tier with room for at least a thousand entries and a megabyte, whose entries stay at most `expires`.
    public typealias Maker =
        @Sendable (_ clock: WallClock, _ expires: CacheExpiration, _ extending: ExpirationExtending) throws -> any CacheTier

    private let make: Maker
    private let extends: Bool

    /// - Parameters:
    ///   - extends: whether a read can extend an entry's lifetime in this tier. If not, it ignores `extending`.
    ///   - make: makes the tier.
    public init(extends: Bool = true, make: @escaping Maker) {
        self.make = make
        self.extends = extends
    }

    public typealias Finding = ConformanceFinding
    public typealias Report = ConformanceReport
    typealias Violation = ConformanceViolation

    /// Tries every rule.
    public func run() async -> Report {
        var rules: [(String, () async throws -> Void)] = [
            ("a stored entry is found again, complete", storedIsFound),
            ("an entry that was never stored is not found", unknownIsAbsent),
            ("any text is a key", strangeKeys),
            ("equal texts of two kinds are two keys", kindsAreApart),
            ("keys and tags that only look the same are two", lookalikesAreApart),
            ("a store replaces", storeReplaces),
            ("a removed entry is gone", removedIsGone),
            ("an entry is found until it expires, not after", expiry),
            ("no entry outlives the limit of the tier", limit),
            ("checking whether an entry exists extends nothing", containsExtendsNothing),
            ("after the clock was set back, nothing lives longer than it should", clockSetBack),
            ("a tag removes its entries and no others", tags),
            ("a removal of the expired takes no others", expired),
            ("a removal of all leaves nothing", all),
            ("a dry run counts what the removal then removes", dryRun),
            ("work that began before a purge is not stored after it", generations),
            ("every key is visited once", visiting),
            ("hits, misses, stores and entries are counted", counting),
            ("they are counted for the source in the key", countingBySource),
            ("at any time, a key finds what was stored under it or nothing", concurrency),
        ]
        if extends { rules.append(("a read extends a lifetime only as configured", extending)) }
        var findings: [Finding] = []
        for (rule, check) in rules {
            do {
                try await check()
                findings.append(Finding(rule: rule, problem: nil))
            } catch let violation as Violation {
                findings.append(Finding(rule: rule, problem: violation.problem))
            } catch {
                findings.append(Finding(rule: rule, problem: "unexpectedly failed: \(error)"))
            }
        }
        return Report(findings: findings)
    }

    func tier(
        _ clock: ManualClock, expires: CacheExpiration = .never, extending: ExpirationExtending = .none
    ) throws -> any CacheTier { try make(clock.wallClock, expires, extending) }

    func expect(_ condition: Bool, _ problem: @autoclosure () -> String) throws {
        if !condition { throw Violation(problem()) }
    }
}

/// The rules about counts.
extension TierConformance {
    func counting() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        let key = CacheKey(.variant, "poster")
        _ = try await tier.entry(for: key)
        try await tier.store(.sample(at: clock), for: key)
        _ = try await tier.entry(for: key)
        _ = try await tier.entry(for: key)
        let statistics = try await tier.statistics()
        let figures = statistics.total
        try expect(
            figures.hits == 2 && figures.misses == 1 && figures.stores == 1 && figures.entries == 1 && figures.bytes > 0,
            "after a miss, a store and two hits: \(figures)")
        try expect(statistics.byteLimit >= figures.bytes, "holds \(figures.bytes) of \(statistics.byteLimit) bytes")
    }

    func countingBySource() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        let first = clock.now
        try await tier.store(.sample(at: clock, cacheTime: .seconds(100)), for: CacheKey(.original, "one://1"))
        clock.advance(by: .seconds(60))
        try await tier.store(.sample(at: clock), for: CacheKey(.variant, "one://2#w92.jpg"))
        try await tier.store(.sample(at: clock), for: CacheKey(.metadata, "title/two://1"))
        _ = try await tier.entry(for: CacheKey(.metadata, "title/two://1"))
        _ = try await tier.entry(for: CacheKey(.variant, "two://nothing/a://b#w92.jpg"))
        let before = try await tier.statistics().sources
        try expect(
            before["one"]?.entries == 2 && before["one"]?.stores == 2 && before["one"]?.oldest == first && before["one"]?.hits == 0,
            "of the source one, after two stores: \(String(describing: before["one"]))")
        try expect(
            before["two"]?.entries == 1 && before["two"]?.hits == 1 && before["two"]?.misses == 1
                && before["two"]?.oldest == clock.now,
            "of the source two, after a store, a hit and a miss: \(String(describing: before["two"]))")
        try expect(Set(before.keys) == ["one", "two"], "counted under \(before.keys.sorted())")

        clock.advance(by: .seconds(60))
        _ = try await tier.remove(.expired, dryRun: false)
        let after = try await tier.statistics().sources
        try expect(
            after["one"]?.entries == 1 && after["one"]?.oldest == first + 60,
            "of the source one, after its older entry expired: \(String(describing: after["one"]))")
        try expect((after["one"]?.bytes ?? 0) < (before["one"]?.bytes ?? 0), "bytes of what is gone are still counted")
    }
}
