internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore
internal import Synchronization

/// The rules about storing and finding.
extension TierConformance {
    func storedIsFound() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        let titled = CacheTag.title(TitleReference(source: "sample", id: "1"))
        for (number, cacheTime) in [CacheExpiration.never, .seconds(0.5), .days(3), .date(clock.now + 12.25)].enumerated() {
            var entry = CacheEntry.sample(
                "body \(number)", at: clock, cacheTime: cacheTime, tags: [.source("sample"), titled], cost: 12.5)
            if number > 0 { (entry.freshness, entry.provenance, entry.presentation) = facts(at: clock.now) }
            try await tier.store(entry, for: CacheKey(.variant, "\(number)"))
            let found = try await tier.entry(for: CacheKey(.variant, "\(number)"))
            try expect(found == entry, "stored \(entry), found \(String(describing: found))")
        }
        try await tier.store(.sample("", at: clock), for: CacheKey(.variant, "empty"))
        let empty = try await tier.entry(for: CacheKey(.variant, "empty"))
        try expect(empty?.body == ByteBuffer(), "an entry with an empty body is not found with one: \(String(describing: empty))")
    }

    /// Facts with a value in each field.
    private func facts(at now: Date) -> (Freshness, Provenance, Presentation) {
        (
            Freshness(
                freshUntil: now + 60, staleUntil: now + 90, staleOnErrorUntil: now + 86_400, entityTag: "W/\"ä\"",
                lastModified: "Thu, 01 Jan 1970 00:00:00 GMT"),
            Provenance(
                location: "https://example.com/ä", page: "", site: "example.com", askedAt: now - 0.5, original: "validator"),
            Presentation(
                width: 600, height: 900, color: Color(red: 0, green: 16, blue: 255), thumbHash: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
                perceptualHash: 7)
        )
    }

    func unknownIsAbsent() async throws {
        let tier = try tier(ManualClock())
        let key = CacheKey(.original, "missing")
        let entry = try await tier.entry(for: key)
        let isThere = try await tier.contains(key)
        try expect(entry == nil && !isThere, "found \(String(describing: entry)), contained: \(isThere)")
    }

    func strangeKeys() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        let texts = [
            "", "/", "..", "../../etc/passwd", "a\0b", "a", "포스터 🎬", "e\u{301}", String(repeating: "long", count: 5000), "'; --",
            "%s",
        ]
        for text in texts { try await tier.store(.sample("of \(text)", at: clock), for: CacheKey(.original, text)) }
        for text in texts {
            let found = try await tier.entry(for: CacheKey(.original, text))
            try expect(
                found?.body == ByteBuffer(string: "of \(text)"), "under “\(text.prefix(40))” is \(String(describing: found?.body))")
        }
    }

    func kindsAreApart() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        for kind in CacheKind.allCases { try await tier.store(.sample(kind.rawValue, at: clock), for: CacheKey(kind, "same")) }
        for kind in CacheKind.allCases {
            let found = try await tier.entry(for: CacheKey(kind, "same"))
            try expect(found?.body == ByteBuffer(string: kind.rawValue), "under \(kind) is \(String(describing: found?.body))")
        }
    }

    func lookalikesAreApart() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        for (number, pair) in LookalikeTexts.pairs.enumerated() {
            for (side, text) in [pair.0, pair.1].enumerated() {
                let entry = CacheEntry.sample("\(number) \(side)", at: clock, tags: [CacheTag(text)])
                try await tier.store(entry, for: CacheKey(.original, text))
            }
        }
        for (number, pair) in LookalikeTexts.pairs.enumerated() {
            for (side, text) in [pair.0, pair.1].enumerated() {
                let found = try await tier.entry(for: CacheKey(.original, text))
                try expect(
                    found?.body == ByteBuffer(string: "\(number) \(side)"),
                    "under number \(side) of “\(text)” is \(String(describing: found?.body))")
                let tagged = try await tier.remove(.tag(CacheTag(text)), dryRun: true).entries
                try expect(tagged == 1, "the tag “\(text)” takes \(tagged) entries")
            }
            try await tier.remove(CacheKey(.original, pair.0))
            let other = try await tier.contains(CacheKey(.original, pair.1))
            try expect(other, "removing one “\(pair.0)” removes the other")
        }
    }

    func storeReplaces() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        let key = CacheKey(.variant, "poster")
        try await tier.store(.sample("old and longer", at: clock, tags: [CacheTag("old")]), for: key)
        try await tier.store(.sample("new", at: clock, tags: [CacheTag("new")]), for: key)
        let found = try await tier.entry(for: key)
        try expect(found?.body == ByteBuffer(string: "new"), "found \(String(describing: found?.body))")
        let byOldTag = try await tier.remove(.tag(CacheTag("old")), dryRun: true)
        try expect(byOldTag.entries == 0, "the replaced entry's tag still takes \(byOldTag.entries)")
        let entries = try await tier.statistics().total.entries
        try expect(entries == 1, "one key counts as \(entries) entries")
    }

    func visiting() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        let keys = Set((0..<300).map { CacheKey(CacheKind.allCases[$0 % 3], "\($0)") })
        for key in keys { try await tier.store(.sample(at: clock), for: key) }
        let visited = Visited()
        try await tier.forEachKey { visited.add($0) }
        try expect(visited.keys.count == keys.count && Set(visited.keys) == keys, "visited \(visited.keys.count) of \(keys.count)")
    }

    func concurrency() async throws {
        let clock = ManualClock()
        let tier = try tier(clock)
        let wrong = Visited()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for round in 0..<60 {
                        let key = CacheKey(.variant, "\((worker * 7 + round) % 10)")
                        switch (worker + round) % 4 {
                        case 0: try await tier.store(.sample("body of \(key), by \(worker)", at: clock), for: key)
                        case 1 where round % 20 == 1: try await tier.remove(key)
                        default:
                            let found = try await tier.entry(for: key)
                            if let found, !String(buffer: found.body).hasPrefix("body of \(key), by ") { wrong.add(key) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try expect(wrong.keys.isEmpty, "found another key's bytes under \(wrong.keys)")
    }
}

/// The keys of a visit.
final class Visited: Sendable {
    private let seen = Mutex<[CacheKey]>([])

    var keys: [CacheKey] { seen.withLock { $0 } }
    func add(_ key: CacheKey) { seen.withLock { $0.append(key) } }
}
