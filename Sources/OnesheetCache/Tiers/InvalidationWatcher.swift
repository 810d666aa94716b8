internal import OnesheetCore
internal import Synchronization

/// The generation of each tier at one moment. The results of work are stored only while they are unchanged.
package struct CacheGeneration: Hashable, Sendable {
    package let memory: Int
    /// Of the tiers behind memory; `nil` if a tier failed.
    let tiers: [Int?]

    package init(memory: Int = 0) { self.init(memory: memory, tiers: []) }

    init(memory: Int, tiers: [Int?]) {
        self.memory = memory
        self.tiers = tiers
    }
}

/// Notices purges by other processes that share a tier, and knows the generations for new work.
///
/// If another process has purged, the whole memory tier is emptied: such purges are rare, and the entries come back from the disk.
package final class InvalidationWatcher: Sendable {
    private struct State {
        var known: [Int?]
        /// The number of purges by this process, and those under way. A generation that was read during one of them is ignored.
        var raises = 0
        var raising = 0

        /// Whether this process has not purged since `before`.
        func isQuiet(since before: State) -> Bool { raises == before.raises && before.raising == 0 && raising == 0 }
    }

    private let memory: MemoryTier
    private let tiers: [any CacheTier]
    private let state: Mutex<State>

    init(memory: MemoryTier, tiers: [any CacheTier]) {
        self.memory = memory
        self.tiers = tiers
        state = Mutex(State(known: tiers.map { _ in nil }))
    }

    /// Learns the generations before the first entry is served from memory: what changes from then on is a purge by another process.
    package func begin() async { _ = await generation() }

    /// The known generations. Learns only those that are not known yet; then the tiers can take entries to be stored later.
    package func generation() async -> CacheGeneration {
        for number in unknownTiers {
            let raises = batching(number)?.raises
            guard let current = await current(number) else { continue }
            state.withLock { $0.known[number] = $0.known[number] ?? current }
            if let raises { await batching(number)?.follow(current, readAfter: raises) }
        }
        return state.withLock { CacheGeneration(memory: memory.generation, tiers: $0.known) }
    }

    /// Reads the tiers' generations. If another process has purged one of them, empties memory, and drops what waits to be stored there
    /// or in tiers that several servers share.
    package func check() async {
        for number in tiers.indices {
            let before = state.withLock { $0 }
            let raises = batching(number)?.raises
            guard let current = await current(number) else { continue }
            if let raises { await batching(number)?.follow(current, readAfter: raises) }
            let wasPurgedElsewhere = state.withLock { state in
                guard state.isQuiet(since: before), let known = state.known[number] else { return false }
                return known != current
            }
            if wasPurgedElsewhere, !isShared(number) { await forgetPurged() }
            // After memory is empty: work that knows of the purge finds no earlier entries in it.
            state.withLock { if $0.isQuiet(since: before) { $0.known[number] = current } }
        }
    }

    /// Raises every tier's generation for a purge by this process.
    /// - Throws: if a tier failed. The others have been raised.
    func raiseGeneration() async throws(CacheError) {
        _ = await memory.raiseGeneration()
        state.withLock { $0.raising += 1 }
        defer { state.withLock { $0.raising -= 1 } }
        var failure: CacheError?
        for (number, tier) in tiers.enumerated() {
            do {
                let next = try await tier.raiseGeneration()
                let wasPurgedElsewhere = state.withLock { state in
                    let known = state.known[number]
                    state.raises += 1
                    state.known[number] = max(known ?? next, next)
                    return known.map { $0 &+ 1 < next } ?? false
                }
                if wasPurgedElsewhere, !isShared(number) { await forgetPurged() }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func batching(_ number: Int) -> (any BatchingTier)? { tiers[number] as? any BatchingTier }

    private var unknownTiers: [Int] { state.withLock { state in tiers.indices.filter { state.known[$0] == nil } } }

    /// Whether several servers share the tier. They tell one another of their purges, and memory has followed them already.
    private func isShared(_ number: Int) -> Bool { tiers[number] is any SharedCacheTier }

    /// A tier that fails counts as not purged.
    private func current(_ number: Int) async -> Int? {
        do { return try await tiers[number].generation() } catch { return nil }
    }

    /// Drops what a purge by another process may concern: what waits for a tier that several servers share, and then what is in memory.
    private func forgetPurged() async {
        for case let tier as any SharedCacheTier in tiers {
            // A tier that fails here keeps what it is writing, as if it had been written before the purge.
            do { try await tier.dropQueued() } catch { continue }
        }
        _ = await memory.raiseGeneration()
        _ = await memory.remove(.all)
    }
}
