internal import FoundationEssentials
internal import OnesheetCore

/// The rules about expiry and removal.
extension TierConformance {
    func removedIsGone() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        let key = CacheKey(.variant, "poster")
        try await tier.store(.sample(at: clock), for: key)
        try await tier.remove(key)
        try await tier.remove(key)
        let isThere = try await tier.contains(key)
        let found = try await tier.entry(for: key)
        try expect(found == nil && !isThere, "it is still found")
    }

    func expiry() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        let (key, forEver) = (CacheKey(.variant, "poster"), CacheKey(.variant, "for ever"))
        try await tier.store(.sample(at: clock, cacheTime: .seconds(100)), for: key)
        try await tier.store(.sample(at: clock), for: forEver)
        clock.advance(by: .seconds(99))
        try await expectThere(key, in: tier, "a second before its time")
        clock.advance(by: .seconds(1))
        try await expectAbsent(key, in: tier, "at its time")
        clock.advance(by: .seconds(10 * 365 * 86_400))
        try await expectThere(forEver, in: tier, "that never expires, after ten years")
    }

    func limit() async throws {
        let clock = ManualClock()
        let tier = try tier(clock, expires: .seconds(300))
        let keys = [CacheExpiration.never, .days(7)].map { CacheKey(.variant, "\($0)") }
        try await tier.store(.sample(at: clock), for: keys[0])
        try await tier.store(.sample(at: clock, cacheTime: .days(7)), for: keys[1])
        clock.advance(by: .seconds(299))
        for key in keys { try await expectThere(key, in: tier, "in the tier's time") }
        clock.advance(by: .seconds(1))
        for key in keys { try await expectAbsent(key, in: tier, "past the tier's time") }
    }

    func extending() async throws {
        let cases: [(ExpirationExtending, Double)] = [(.none, 100), (.cacheTime, 160), (.newExpiration(.seconds(500)), 560)]
        for (extending, end) in cases {
            let clock = ManualClock()
            let tier = try tier(clock, extending: extending)
            let key = CacheKey(.variant, "poster")
            try await tier.store(.sample(at: clock, cacheTime: .seconds(100)), for: key)
            clock.advance(by: .seconds(60))
            _ = try await tier.entry(for: key)
            clock.advance(by: .seconds(end - 61))
            let before = try await tier.contains(key)
            clock.advance(by: .seconds(1))
            let after = try await tier.contains(key)
            try expect(
                before && !after,
                "\(extending): read at 60 s of 100, it should end at \(end) s; there before: \(before), after: \(after)")
        }
    }

    func containsExtendsNothing() async throws {
        let clock = ManualClock()
        let tier = try tier(clock, extending: .cacheTime)
        let key = CacheKey(.variant, "poster")
        try await tier.store(.sample(at: clock, cacheTime: .seconds(100)), for: key)
        clock.advance(by: .seconds(60))
        _ = try await tier.contains(key)
        clock.advance(by: .seconds(50))
        try await expectAbsent(key, in: tier, "whose lifetime was not extended")
    }

    func clockSetBack() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        let key = CacheKey(.variant, "poster")
        try await tier.store(.sample(at: clock, cacheTime: .seconds(100)), for: key)
        clock.advance(by: .seconds(-1))
        try await expectThere(key, in: tier, "after the clock was set back by a second")
        clock.advance(by: .seconds(-86_400))
        try await expectAbsent(key, in: tier, "after the clock was set back by a day")
        try await tier.store(.sample("again", at: clock, cacheTime: .seconds(100)), for: key)
        try await expectThere(key, in: tier, "that was stored again after that")
        let other = CacheKey(.variant, "other")
        try await tier.store(.sample(at: clock, cacheTime: .never), for: other)
        clock.advance(by: .seconds(-86_400))
        let removal = try await tier.remove(.expired, dryRun: false)
        try expect(removal.entries == 2, "removed \(removal.entries) of 2 entries that were created in the future")
    }

    func tags() async throws {
        let (_, tier) = try await filled()
        let removal = try await tier.remove(.tag(.source("even")), dryRun: false)
        try expect(removal.entries == 100 && removal.bytes > 0, "removed \(removal) of 100 entries")
        for number in 0..<200 {
            let isThere = try await tier.contains(CacheKey(.variant, "\(number)"))
            try expect(isThere == (number % 2 == 1), "\(number) is there: \(isThere)")
        }
    }

    func expired() async throws {
        let (clock, tier) = try await filled()
        clock.advance(by: .seconds(100))
        let removal = try await tier.remove(.expired, dryRun: false)
        try expect(removal.entries == 100, "removed \(removal.entries) of 100 expired entries")
        let entries = try await tier.statistics().total.entries
        try expect(entries == 100, "\(entries) entries of 100 are left")
    }

    func all() async throws {
        let (clock, tier) = try await filled()
        let removal = try await tier.remove(.all, dryRun: false)
        try expect(removal.entries == 200, "removed \(removal.entries) of 200")
        let figures = try await tier.statistics().total
        try expect(figures.entries == 0 && figures.bytes == 0, "left: \(figures)")
        try await expectAbsent(CacheKey(.variant, "1"), in: tier, "removed with all")
        try await tier.store(.sample(at: clock), for: CacheKey(.variant, "1"))
        try await expectThere(CacheKey(.variant, "1"), in: tier, "stored after all was removed")
    }

    func dryRun() async throws {
        for selection in [CacheSelection.tag(.source("odd")), .expired, .all] {
            let (clock, tier) = try await filled()
            clock.advance(by: .seconds(100))
            let promised = try await tier.remove(selection, dryRun: true)
            let entries = try await tier.statistics().total.entries
            let removal = try await tier.remove(selection, dryRun: false)
            try expect(
                entries == 200 && promised == removal, "\(selection): promised \(promised), removed \(removal), \(entries) between")
        }
    }

    func generations() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        let (before, after) = (CacheKey(.variant, "before"), CacheKey(.variant, "after"))
        let first = try await tier.generation()
        let again = try await tier.generation()
        try expect(first == again, "reading the generation changed it from \(first) to \(again)")
        let early = try await tier.store(.sample(at: clock), for: after, ifGeneration: first)
        try expect(early, "it is refused although nothing was purged")
        _ = try await tier.remove(.tag(.source("unknown")), dryRun: false)
        let removed = try await tier.generation()
        try expect(removed == first, "a removal alone changed the generation")
        let raised = try await tier.raiseGeneration()
        let second = try await tier.generation()
        try expect(raised == first + 1 && second == raised, "raised from \(first) to \(raised), then it is \(second)")
        try await expectThere(after, in: tier, "that was not removed")
        let isStored = try await tier.store(.sample(at: clock), for: before, ifGeneration: first)
        try expect(!isStored, "a store under the generation of before says that it is current")
        try await expectAbsent(before, in: tier, "that began before")
        let late = try await tier.store(.sample("new", at: clock), for: before, ifGeneration: second)
        try expect(late, "a store under the present generation is refused")
        try await expectThere(before, in: tier, "that began after")
        try await tier.store(.sample(at: clock), for: before)
    }

    /// A tier with 200 variants; the even ones expire after 100 seconds.
    private func filled() async throws -> (ManualClock, any CacheTier) {
        let clock = ManualClock()
        let tier = try tier(clock)
        for number in 0..<200 {
            let isEven = number.isMultiple(of: 2)
            let entry = CacheEntry.sample(
                at: clock, cacheTime: isEven ? .seconds(100) : .never,
                tags: [.source(isEven ? "even" : "odd"), CacheTag("\(number)")])
            try await tier.store(entry, for: CacheKey(.variant, "\(number)"))
        }
        return (clock, tier)
    }

    private func expectThere(_ key: CacheKey, in tier: any CacheTier, _ which: String) async throws {
        let isThere = try await tier.contains(key)
        let found = try await tier.entry(for: key)
        try expect(isThere && found != nil, "an entry \(which) is contained: \(isThere), found: \(found != nil)")
    }

    private func expectAbsent(_ key: CacheKey, in tier: any CacheTier, _ which: String) async throws {
        let isThere = try await tier.contains(key)
        let found = try await tier.entry(for: key)
        try expect(!isThere && found == nil, "an entry \(which) is contained: \(isThere), found: \(found != nil)")
    }
}
