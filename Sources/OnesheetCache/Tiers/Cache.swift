package import Logging
package import NIOCore
package import OnesheetCore

/// An entry and its tier.
package struct CacheHit: Sendable {
    package let entry: CacheEntry
    /// The tier's name: `memory`, `disk`.
    package let tier: String
    /// The file with the body, if it is not in memory.
    package let file: ReadyFile?
    /// Whether it is from the memory tier.
    package let isFromMemory: Bool
    /// The bytes of the body, in memory or in the file.
    package var size: Int { file?.region.readableBytes ?? entry.body.readableBytes }

    /// A hit in the memory tier.
    package init(inMemory entry: CacheEntry) {
        self.entry = entry
        tier = MemoryTier.name
        file = nil
        isFromMemory = true
    }

    /// A hit in a tier behind memory.
    package init(entry: CacheEntry, tier: String, file: ReadyFile? = nil) {
        self.entry = entry
        self.tier = tier
        self.file = file
        isFromMemory = false
    }
}

/// The outcome of a lookup that did not wait. It holds for one key.
package struct CacheLookUp: Sendable {
    /// `nil` holds for every key.
    fileprivate var key: CacheKey?
    /// The entry, if a tier had it immediately and it had not expired.
    package let hit: CacheHit?
    /// The promotion mark of a miss in memory; `nil` if memory had the entry.
    fileprivate let mark: PromotionMark?
    /// Whether the disk does not have the entry.
    fileprivate var isAbsentOnDisk = false
    /// Whether nothing is left to look up.
    fileprivate var isComplete = false

    /// No tier has the entry, as `Cache.contains(_:)` says.
    package static var absent: CacheLookUp { CacheLookUp(key: nil, hit: nil, mark: nil, isComplete: true) }
}

/// All tiers in order: memory, the disk, further ones, and the one of all servers. An entry of a later tier is promoted into all tiers
/// before it, into memory at once and into the others behind the answer.
///
/// A failing tier is logged and skipped: the cache may cost a request time but never its answer.
package struct Cache: Sendable {
    package let memory: MemoryTier
    /// The tiers behind memory.
    let row: TierRow
    package let logger: Logger
    /// Notices purges by other processes.
    package let invalidations: InvalidationWatcher
    private let errors: TierErrorLog
    let removals = Removals()
    /// Looks for purges after a refused store. One that is left out comes with the next poll.
    private let checks = BackgroundWork(limit: 16, bytes: 0)
    /// Removes refused entries from the tier of all servers. There are at most as many as wait for the disk.
    private let withdrawals = BackgroundWork(limit: .max, bytes: 0)
    /// A skipped promotion is retried by the next hit.
    private let promotions = BackgroundWork(limit: 256, bytes: 64 << 20)

    /// - Parameters:
    ///   - disk: `nil` keeps nothing after the process ends.
    ///   - further: the tiers of this server behind the disk, in order.
    ///   - cluster: the other servers; `nil` if this one works alone.
    package init(
        memory: MemoryTier, disk: DiskTier? = nil, further: [any CacheTier] = [], cluster: (any Cluster)? = nil, logger: Logger
    ) {
        self.memory = memory
        row = TierRow(disk: disk, further: further, cluster: cluster)
        self.logger = logger
        errors = TierErrorLog(logger: logger)
        invalidations = InvalidationWatcher(memory: memory, row: row)
    }

    /// `nil` if the cache has no disk.
    package var disk: DiskTier? { row.disk }
    /// The other servers; `nil` if this one works alone.
    package var cluster: (any Cluster)? { row.cluster }

    /// All tiers in order.
    /// - Parameter includingShared: whether to include the tier of all servers.
    package func tiers(includingShared: Bool) -> [any CacheTier] { [memory] + row.tiers(includingShared: includingShared) }

    /// The most bytes that an event loop reads into memory at once. Copying them takes a few microseconds.
    private static let readingNow = 128 << 10

    /// Looks up `key` without waiting. Event loops may call it.
    ///
    /// Promotes small entries into memory, and returns large ones as files.
    package func lookUp(_ key: CacheKey) -> CacheLookUp {
        let inMemory = lookUpInMemory(key)
        guard let mark = inMemory.mark, let disk else { return inMemory }
        switch disk.entryNow(for: key, reading: min(Self.readingNow, memory.entryLimit)) {
        case .ready(let ready):
            if ready.file == nil { memory.promote(ready.entry, for: key, since: mark) }
            return CacheLookUp(key: key, hit: CacheHit(entry: ready.entry, tier: disk.name, file: ready.file), mark: mark)
        case .absent: return CacheLookUp(key: key, hit: nil, mark: mark, isAbsentOnDisk: true)
        case .unknown: return inMemory
        }
    }

    private func lookUpInMemory(_ key: CacheKey) -> CacheLookUp {
        guard let entry = memory.entryNow(for: key) else {
            return CacheLookUp(key: key, hit: nil, mark: memory.promotionMark(for: key))
        }
        return CacheLookUp(key: key, hit: CacheHit(inMemory: entry), mark: nil)
    }

    /// The entry under `key`, with its body, from the first tier in which it has not expired.
    /// - Parameters:
    ///   - lookUp: the outcome of a lookup that did not wait. This one continues there.
    ///   - isShared: whether the tier of all servers may have it.
    ///   - memory: the memory for its bytes. If it refuses, the result is `nil` although there is an entry.
    package func entry(
        for key: CacheKey, after lookUp: CacheLookUp? = nil, isShared: Bool = true, into memory: ReadingMemory
    ) async -> CacheHit? {
        // An outcome for another key says nothing.
        let lookUp = lookUp.flatMap { $0.key ?? key == key ? $0 : nil } ?? lookUpInMemory(key)
        if lookUp.isComplete { return nil }
        if let hit = await complete(lookUp, for: key, into: memory) { return hit }
        if memory.isRefused { return nil }
        let moment = removals.moment
        let generation = row.all.count > 1 ? await generation() : nil
        for (number, tier) in row.tiers(includingShared: isShared).enumerated() {
            if number == 0, lookUp.isAbsentOnDisk { continue }
            let entry = await errors.passing(tier, "look up", of: key) { () async throws(CacheError) in
                try await tier.entry(for: key, into: memory)
            }
            // The next tier would be asked for what this one has.
            if memory.isRefused { return nil }
            guard let entry = entry ?? nil else { continue }
            if number > 0 {
                promotions.run(bytes: entry.body.readableBytes) {
                    for earlier in row.all[..<number].indices {
                        await promote(entry, for: key, into: earlier, under: generation, since: moment)
                    }
                }
            }
            if let mark = lookUp.mark { self.memory.promote(entry, for: key, since: mark) }
            return CacheHit(entry: entry, tier: tier.name)
        }
        return nil
    }

    /// Waits until earlier answers, made or found, are in every tier of this server.
    package func finishStoring() async {
        await disk?.finishStoring()
        await promotions.finish()
        await checks.finish()
        await withdrawals.finish()
    }

    /// The hit of `lookUp` with its body, which is read if it is in a file. `nil` if there is no hit, or its file cannot be read.
    private func complete(_ lookUp: CacheLookUp, for key: CacheKey, into memory: ReadingMemory) async -> CacheHit? {
        guard let hit = lookUp.hit, let file = hit.file else { return lookUp.hit }
        guard let disk, memory.admit(file.region.readableBytes) else { return nil }
        let body = await errors.passing(disk, "read", of: key) { () async throws(CacheError) in try await disk.read(file) }
        guard let body = body ?? nil else { return nil }
        var entry = hit.entry
        entry.body = body
        if let mark = lookUp.mark { self.memory.promote(entry, for: key, since: mark) }
        return CacheHit(entry: entry, tier: hit.tier)
    }

    /// Promotes an entry of a later tier, unless something was removed meanwhile, which may be this entry.
    private func promote(
        _ entry: CacheEntry, for key: CacheKey, into number: Int, under generation: CacheGeneration?, since moment: Removals.Moment?
    ) async {
        let tier = row.all[number]
        guard let moment, let expected = generation?.tiers[number] else { return }
        await errors.passing(tier, "promote", of: key) { () async throws(CacheError) in
            try await tier.store(entry, for: key, ifGeneration: expected)
            // A removal that began meanwhile may have passed this tier before the store.
            if removals.moment != moment { try await tier.remove(key) }
        }
    }

    /// Whether any tier has an entry under `key` that has not expired. Extends no lifetime. A shared store may send the body.
    package func contains(_ key: CacheKey) async -> Bool { await tier(having: key) != nil }

    /// The name of the first tier that has an entry under `key` that has not expired. Extends no lifetime. A shared store may send the
    /// body.
    package func tier(having key: CacheKey) async -> String? {
        if await memory.contains(key) { return memory.name }
        for tier in row.all {
            let found = await errors.passing(tier, "look up", of: key) { () async throws(CacheError) in try await tier.contains(key)
            }
            if found == true { return tier.name }
        }
        return nil
    }

    /// The head of the entry under `key` from the first tier that has it. Promotes nothing.
    /// - Parameter memory: for tiers of plugins, which have no heads.
    package func head(of key: CacheKey, into memory: ReadingMemory) async -> CacheHead? {
        if let entry = self.memory.entryNow(for: key) {
            return CacheHead(entry, size: entry.body.readableBytes, tier: MemoryTier.name)
        }
        for tier in row.all {
            let head = await errors.passing(tier, "look up", of: key) { () async throws(CacheError) in
                try await tier.head(of: key, into: memory)
            }
            if let head = head ?? nil { return head }
        }
        return nil
    }

    /// The head of a large entry that is on the disk and not in memory; `nil` if there is none.
    package func largeHead(of key: CacheKey) async -> CacheHead? {
        guard let disk, await !memory.contains(key) else { return nil }
        let head = await errors.passing(disk, "look up", of: key) { () async throws(CacheError) in try await disk.head(of: key) }
        guard let head = head ?? nil, head.size > ReadingMemory.small else { return nil }
        return head
    }

    /// Parts of the body of the entry on the disk under `key`, in order; `nil` if the entry with this head is gone.
    /// - Parameter memory: the memory for their bytes. If it refuses, the result is `nil`.
    package func parts(
        _ ranges: [Range<Int>], of key: CacheKey, _ head: CacheHead, into memory: ReadingMemory
    ) async -> [ByteBuffer]? {
        guard let disk else { return nil }
        let parts = await errors.passing(disk, "read", of: key) { () async throws(CacheError) in
            try await disk.parts(ranges, of: key, validator: head.entry.validator, into: memory)
        }
        return parts ?? nil
    }

    /// The generation for new work, under which its results are stored. Purges by other processes count once they are noticed, and
    /// no result of earlier work is stored in any case.
    package func generation() async -> CacheGeneration { await invalidations.generation() }

    /// Stores `entry` in every tier. The disk tier and a tier behind a network put it into a queue. If the disk's queue is full, the
    /// caller waits for the write.
    /// - Parameters:
    ///   - generation: the generation at the start of the work. Nothing is stored if a purge came since, because `entry` may be derived
    ///     from purged entries. `nil` stores unconditionally.
    ///   - isShared: whether the tier of all servers gets it.
    package func store(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: CacheGeneration? = nil, isShared: Bool = true
    ) async {
        for (number, tier) in row.tiers(includingShared: isShared).enumerated() {
            // A tier without a known generation cannot compare it.
            if let generation, generation.tiers[number] == nil { continue }
            let expected = generation?.tiers[number]
            if let disk = row.disk(at: number) {
                switch storeLater(entry, for: key, on: disk, ifGeneration: expected, isShared: isShared) {
                case .taken: continue
                case .full: break
                // There was a purge. New work must use the new generation.
                case .refused: return checks.run { await invalidations.check() }
                }
            }
            let isCurrent = await errors.passing(tier, "store", of: key) { () async throws(CacheError) in
                try await tier.store(entry, for: key, ifGeneration: expected)
            }
            // Another process has purged. New work must use the new generation.
            if isCurrent == false { return await invalidations.check() }
        }
        memory.storeNow(entry, for: key, ifGeneration: generation?.memory)
    }

    private func storeLater(
        _ entry: CacheEntry, for key: CacheKey, on disk: DiskTier, ifGeneration generation: Int?, isShared: Bool
    ) -> QueuedStore {
        disk.storeLater(entry, for: key, ifGeneration: generation) { result in
            switch result {
            case .success(true): break
            case .success(false):
                // There was a purge. New work must use the new generation.
                checks.run { await invalidations.check() }
                if isShared, let cluster, !cluster.tellsOfPurges { withdrawals.run { await withdraw(key) } }
            case .failure(let error): errors.note(error, of: disk, in: "store", key: key)
            }
        }
    }

    /// Removes an entry that the disk has refused, after a while in its queue, from the tier of all servers. That one has stored it: without
    /// a coordinator, it learns of no purge by another process. A newer entry under the key may go, too, and is made again.
    private func withdraw(_ key: CacheKey) async {
        if let tier = cluster?.tier {
            await errors.passing(tier, "remove", of: key) { () async throws(CacheError) in try await tier.remove(key) }
        }
    }

    /// The failures of each tier behind memory.
    package var failures: [String: Int] {
        let counts = errors.counts
        return Dictionary(row.all.map { ($0.name, counts[$0.name] ?? 0) }, uniquingKeysWith: +)
    }

    /// The figures of each tier by its name, except those of tiers that fail.
    package func statistics() async -> [String: CacheStatistics] {
        var all = [memory.name: await memory.statistics()]
        for tier in row.all {
            all[tier.name] = await errors.passing(tier, "count") { () async throws(CacheError) in try await tier.statistics() }
        }
        return all
    }
}
