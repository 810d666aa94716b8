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
    private let row: TierRow
    private let state: Mutex<State>

    init(memory: MemoryTier, row: TierRow) {
        self.memory = memory
        self.row = row
        state = Mutex(State(known: row.all.map { _ in nil }))
    }

    /// Learns the generations before the first entry is served from memory: what changes from then on is a purge by another process.
    package func begin() async { _ = await generation() }

    /// The known generations. Learns only those that are not known yet; then the tiers can take entries to be stored later.
    package func generation() async -> CacheGeneration {
        for number in unknownTiers {
            guard let current = await current(number) else { continue }
            state.withLock { $0.known[number] = $0.known[number] ?? current }
        }
        return state.withLock { CacheGeneration(memory: memory.generation, tiers: $0.known) }
    }

    /// Reads the tiers' generations. If another process has purged one of them, empties memory, and drops what waits to be stored there
    /// or in the tier of all servers.
    package func check() async {
        for number in row.all.indices {
            let before = state.withLock { $0 }
            guard let current = await current(number) else { continue }
            let wasPurgedElsewhere = state.withLock { state in
                guard state.isQuiet(since: before), let known = state.known[number] else { return false }
                return known != current
            }
            // The servers tell one another of their purges, and memory has followed them already.
            if wasPurgedElsewhere, !row.isShared(number) { await forgetPurged() }
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
        for (number, tier) in row.all.enumerated() {
            do {
                let next = try await tier.raiseGeneration()
                let wasPurgedElsewhere = state.withLock { state in
                    let known = state.known[number]
                    state.raises += 1
                    state.known[number] = max(known ?? next, next)
                    return known.map { $0 &+ 1 < next } ?? false
                }
                if wasPurgedElsewhere, !row.isShared(number) { await forgetPurged() }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private var unknownTiers: [Int] { state.withLock { state in row.all.indices.filter { state.known[$0] == nil } } }

    /// The tier's generation, which the queue of the disk then knows too. A tier that fails counts as not purged.
    private func current(_ number: Int) async -> Int? {
        let disk = row.disk(at: number)
        let raises = disk?.raises
        do {
            let current = try await row.all[number].generation()
            if let raises { await disk?.follow(current, readAfter: raises) }
            return current
        } catch {
            return nil
        }
    }

    /// Drops what a purge by another process on this machine may concern: what waits for the tier of all servers, and then what is in
    /// memory.
    private func forgetPurged() async {
        do { try await row.cluster?.dropQueued() } catch { /* What is being written stays, as if that had been before the purge. */
        }
        // Twice: work that begins during the first removal may read remaining entries and store results of them.
        for _ in 0..<2 {
            _ = await memory.raiseGeneration()
            _ = await memory.remove(.all)
        }
    }
}
