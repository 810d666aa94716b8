internal import OnesheetCore
internal import Synchronization

/// Each tier's generation at one moment: work stores what it makes only while they are the same.
package struct CacheGeneration: Hashable, Sendable {
    package let memory: Int
    /// Of the tiers behind memory; `nil` for one that could not tell.
    let tiers: [Int?]

    package init(memory: Int = 0) { self.init(memory: memory, tiers: []) }

    init(memory: Int, tiers: [Int?]) {
        self.memory = memory
        self.tiers = tiers
    }
}

/// Notices purges by other processes that share a tier, and keeps the tiers' generations for the work that begins.
///
/// If another process has purged, all of memory goes and not only what was purged: it comes back from the disk, and such a purge is rare.
package final class InvalidationWatcher: Sendable {
    private struct State {
        var known: [Int?]
        /// How often this process raised the generations: a reading that was under way meanwhile says nothing.
        var raises = 0
    }

    private let memory: MemoryTier
    private let tiers: [any CacheTier]
    private let state: Mutex<State>

    init(memory: MemoryTier, tiers: [any CacheTier]) {
        self.memory = memory
        self.tiers = tiers
        state = Mutex(State(known: tiers.map { _ in nil }))
    }

    /// The generation as it is known; only of tiers that have not told it yet it is read.
    package func generation() async -> CacheGeneration {
        for number in unknownTiers {
            guard let current = await current(number) else { continue }
            state.withLock { $0.known[number] = $0.known[number] ?? current }
        }
        return state.withLock { CacheGeneration(memory: memory.generation, tiers: $0.known) }
    }

    /// Reads the tiers' generations, and empties memory if another process has purged one of them.
    package func check() async {
        for number in tiers.indices {
            let before = state.withLock { $0 }
            guard let current = await current(number) else { continue }
            let isForeign = state.withLock { state in
                guard state.raises == before.raises, let known = state.known[number] else { return false }
                return known != current
            }
            if isForeign { await emptyMemory() }
            // After memory is empty: work that knows of the purge finds nothing in it from before.
            state.withLock { if $0.raises == before.raises { $0.known[number] = current } }
        }
    }

    /// Raises every tier's generation for a purge by this process.
    /// - Throws: when a tier could not raise it; the others have.
    func raiseGeneration() async throws(CacheError) {
        _ = await memory.raiseGeneration()
        var failure: CacheError?
        for (number, tier) in tiers.enumerated() {
            do {
                let next = try await tier.raiseGeneration()
                let isForeign = state.withLock { state in
                    let known = state.known[number]
                    state.raises += 1
                    state.known[number] = max(known ?? next, next)
                    return known.map { $0 &+ 1 < next } ?? false
                }
                if isForeign { await emptyMemory() }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private var unknownTiers: [Int] { state.withLock { state in tiers.indices.filter { state.known[$0] == nil } } }

    /// A tier that fails has not been purged as far as anybody can tell.
    private func current(_ number: Int) async -> Int? {
        do { return try await tiers[number].generation() } catch { return nil }
    }

    private func emptyMemory() async {
        _ = await memory.raiseGeneration()
        _ = await memory.remove(.all)
    }
}
