package import Logging
internal import NIOCore
package import OnesheetCore

/// An entry, and which tier had it.
package struct CacheHit: Sendable {
    package let entry: CacheEntry
    /// The tier's name: `memory`, `disk`.
    package let tier: String
    /// Where the body is if the entry has none in memory.
    package let file: ReadyFile?
    /// Whether it is from the first tier.
    package var isFromMemory: Bool { tier == MemoryTier.name }
    /// How many bytes the body has, wherever it is.
    package var size: Int { file?.region.readableBytes ?? entry.body.readableBytes }

    package init(entry: CacheEntry, tier: String, file: ReadyFile? = nil) {
        (self.entry, self.tier, self.file) = (entry, tier, file)
    }
}

/// The tiers one after another: memory first, then the others; what a later tier has is promoted into memory.
///
/// A tier that fails is logged and passed by: the cache may cost a request time, never its answer.
package struct Cache: Sendable {
    package let memory: MemoryTier
    /// The tiers behind memory, in the order in which they are asked.
    package let others: [any CacheTier]
    package let logger: Logger
    /// When something was purged.
    package let purges: PurgeWatch
    private let troubles: TierTroubles

    package init(memory: MemoryTier, others: [any CacheTier] = [], logger: Logger) {
        self.memory = memory
        self.others = others
        self.logger = logger
        troubles = TierTroubles(logger: logger)
        purges = PurgeWatch(memory: memory, tiers: others)
    }

    /// How much an event loop reads into memory at once; copying as much takes a few microseconds.
    private static let readingNow = 128 << 10

    /// What a tier has under `key` and gives without waiting; an event loop may ask.
    ///
    /// Small entries are promoted into memory. What is large, or has no room there, is answered as a file.
    package func entryNow(for key: CacheKey) -> CacheHit? {
        if let hit = memoryHit(for: key) { return hit }
        let mark = memory.promotionMark(for: key)
        for tier in others {
            guard let ready = tier.entryNow(for: key, reading: min(Self.readingNow, memory.entryLimit)) else { continue }
            if ready.file == nil { memory.promote(ready.entry, for: key, since: mark) }
            return CacheHit(entry: ready.entry, tier: tier.name, file: ready.file)
        }
        return nil
    }

    private func memoryHit(for key: CacheKey) -> CacheHit? {
        memory.entryNow(for: key).map { CacheHit(entry: $0, tier: MemoryTier.name) }
    }

    /// The fresh entry under `key` from the first tier that has it.
    package func entry(for key: CacheKey) async -> CacheHit? {
        if let hit = memoryHit(for: key) { return hit }
        let mark = memory.promotionMark(for: key)
        for tier in others {
            let entry = await troubles.passing(tier, "look up", key) { () async throws(CacheError) in try await tier.entry(for: key)
            }
            guard let entry = entry ?? nil else { continue }
            memory.promote(entry, for: key, since: mark)
            return CacheHit(entry: entry, tier: tier.name)
        }
        return nil
    }

    /// Whether any tier has a fresh entry under `key`; reads no body and extends no life.
    package func contains(_ key: CacheKey) async -> Bool {
        if await memory.contains(key) { return true }
        for tier in others {
            let found = await troubles.passing(tier, "look up", key) { () async throws(CacheError) in try await tier.contains(key) }
            if found == true { return true }
        }
        return false
    }

    /// Stores `entry` in every tier.
    package func store(_ entry: CacheEntry, for key: CacheKey) async {
        memory.storeNow(entry, for: key)
        for tier in others {
            await troubles.passing(tier, "store", key) { () async throws(CacheError) in try await tier.store(entry, for: key) }
        }
    }

    /// Stores what was begun at `mark`, unless something was purged since: then it may be what the purge was to end.
    package func store(_ entry: CacheEntry, for key: CacheKey, begunAt mark: PurgeMark) async {
        guard await purges.mark() == mark else { return }
        await store(entry, for: key)
        guard await purges.mark() != mark else { return }
        // Purged while it was stored.
        do { try await remove(key) } catch { logger.error("what was purged may be left: \(error)", metadata: ["key": "\(key)"]) }
    }

    /// Removes what `selection` takes from every tier, and all that is made of it meanwhile: nothing that was begun before is found
    /// afterwards, given that it is stored with `store(_:for:begunAt:)`.
    /// - Throws: as `remove` does.
    package func purge(_ selection: CacheSelection) async throws(CacheError) -> CacheRemoval {
        // What has expired is no news to anybody.
        guard selection != .expired else { return try await remove(selection) }
        purges.note()
        let removal = try await remove(selection)
        // Once more: work that began during the first time may have read what was still there and stored what it made of it.
        purges.note()
        try await remove(selection)
        return removal
    }

    /// Removes what is under `key` from every tier.
    /// - Throws: when a tier may still have it; the other tiers have removed it all the same.
    package func remove(_ key: CacheKey) async throws(CacheError) {
        try await inEveryTier { tier throws(CacheError) in
            try await tier.remove(key)
            return CacheRemoval()
        }
    }

    /// Removes what `selection` takes from every tier, or with `dryRun` counts it. The count is the largest tier's,
    /// because the same entry is usually in several.
    /// - Throws: when a tier may still have some; the other tiers have removed theirs all the same.
    @discardableResult
    package func remove(_ selection: CacheSelection, dryRun: Bool = false) async throws(CacheError) -> CacheRemoval {
        try await inEveryTier { tier throws(CacheError) in try await tier.remove(selection, dryRun: dryRun) }
    }

    /// How often each tier behind memory failed and was passed by.
    package var failures: [String: Int] {
        let counts = troubles.counts
        return Dictionary(others.map { ($0.name, counts[$0.name] ?? 0) }, uniquingKeysWith: +)
    }

    /// Each tier's figures by its name. A tier that cannot tell is left out.
    package func statistics() async -> [String: CacheStatistics] {
        var all = [memory.name: await memory.statistics()]
        for tier in others {
            all[tier.name] = await troubles.passing(tier, "count") { () async throws(CacheError) in try await tier.statistics() }
        }
        return all
    }

    /// From the last tier to the first, so that nothing can be promoted out of a tier that is still to come.
    @discardableResult
    private func inEveryTier(
        _ body: (any CacheTier) async throws(CacheError) -> CacheRemoval
    ) async throws(CacheError) -> CacheRemoval {
        var largest = CacheRemoval()
        var failure: CacheError?
        for tier in others.reversed() + [memory] {
            do {
                let removal = try await body(tier)
                if removal.entries > largest.entries { largest = removal }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return largest
    }
}
