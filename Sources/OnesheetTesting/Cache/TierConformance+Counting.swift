internal import FoundationEssentials
internal import OnesheetCore

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
