package import OnesheetCore
internal import Synchronization

/// A plugin's tier with a deadline. A tier that fails or hangs costs a request no more than the deadline.
///
/// After a lookup or store times out, the tier is skipped for a while, so that not every request waits for it. Calls that hang are
/// abandoned, and their number is bounded.
package final class BoundedTier: CacheTier {
    package let name: String
    private let tier: any CacheTier
    private let deadline: Duration
    private let executor = BoundedExecutor(threads: 4)
    private let state = Mutex(State())

    private struct State {
        var underWay = 0
        var breaker = CallBreaker(failures: 1, pause: .seconds(10))
    }

    private static let mostUnderWay = 256

    /// - Parameters:
    ///   - name: the configured name, in metrics and in `Cache-Status`.
    ///   - deadline: for a lookup or a store. Counting may take four times as long, and a removal by selection a hundred times.
    package init(_ tier: any CacheTier, named name: String, deadline: Duration) {
        self.tier = tier
        self.name = name
        self.deadline = deadline
    }

    package func entry(for key: CacheKey) async throws(CacheError) -> CacheEntry? {
        try await call("look up", within: deadline) { [tier] () async throws(CacheError) in try await tier.entry(for: key) }
    }

    package func contains(_ key: CacheKey) async throws(CacheError) -> Bool {
        try await call("look up", within: deadline) { [tier] () async throws(CacheError) in try await tier.contains(key) }
    }

    package func store(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?
    ) async throws(CacheError) -> Bool {
        try await call("store", within: deadline) { [tier] () async throws(CacheError) in
            try await tier.store(entry, for: key, ifGeneration: generation)
        }
    }

    package func generation() async throws(CacheError) -> Int {
        try await call("look for purges", within: deadline) { [tier] () async throws(CacheError) in try await tier.generation() }
    }

    package func raiseGeneration() async throws(CacheError) -> Int {
        try await call("note a purge", within: deadline) { [tier] () async throws(CacheError) in try await tier.raiseGeneration() }
    }

    package func remove(_ key: CacheKey) async throws(CacheError) {
        try await call("remove", within: deadline) { [tier] () async throws(CacheError) in try await tier.remove(key) }
    }

    package func remove(_ selection: CacheSelection, dryRun: Bool) async throws(CacheError) -> CacheRemoval {
        try await call("remove", within: deadline * 100, rests: false) { [tier] () async throws(CacheError) in
            try await tier.remove(selection, dryRun: dryRun)
        }
    }

    package func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async throws(CacheError) {
        let found = try await call("list", within: deadline * 100, rests: false) {
            [tier] () async throws(CacheError) -> [CacheKey] in
            let keys = Keys()
            try await tier.forEachKey { keys.add($0) }
            return keys.all
        }
        found.forEach(visit)
    }

    package func statistics() async throws(CacheError) -> CacheStatistics {
        try await call("count", within: deadline * 4, rests: false) { [tier] () async throws(CacheError) in
            try await tier.statistics()
        }
    }

    private func call<Answer: Sendable>(
        _ operation: String, within limit: Duration, rests: Bool = true,
        _ body: @escaping @Sendable () async throws(CacheError) -> Answer
    ) async throws(CacheError) -> Answer {
        try enter(operation, rests: rests)
        let outcome = await executor.run(within: limit) { [self] () async -> Result<Answer, CacheError> in
            defer { leave() }
            do throws(CacheError) { return .success(try await body()) } catch { return .failure(error) }
        }
        switch outcome {
        case .answer(let result):
            // The answer to a call from before the pause does not end it.
            if rests { state.withLock { if !$0.breaker.isPausing(at: .now) { $0.breaker.succeeded() } } }
            return try result.get()
        case .late:
            if rests { state.withLock { _ = $0.breaker.failed(at: .now) } }
            throw .tier(operation: operation, reason: "no answer within \(limit)")
        case .crowded, .cancelled:
            // Neither says anything about the tier.
            if rests { state.withLock { $0.breaker.abandoned() } }
            let reason = if case .crowded = outcome { "its threads are busy" } else { "the request was cancelled" }
            throw .tier(operation: operation, reason: reason)
        }
    }

    private func enter(_ operation: String, rests: Bool) throws(CacheError) {
        let reason = state.withLock { state -> String? in
            // A long call does not try, because all others would wait for it.
            let isAllowed = rests ? state.breaker.allows(at: .now) : !state.breaker.isPausing(at: .now)
            guard isAllowed else { return "it is skipped for a while after a timeout" }
            guard state.underWay < Self.mostUnderWay else {
                if rests { state.breaker.abandoned() }
                return "\(state.underWay) calls are already running"
            }
            state.underWay += 1
            return nil
        }
        if let reason { throw .tier(operation: operation, reason: reason) }
    }

    private func leave() { state.withLock { $0.underWay -= 1 } }

    /// The visited keys.
    private final class Keys: Sendable {
        private let keys = Mutex<[CacheKey]>([])
        var all: [CacheKey] { keys.withLock { $0 } }
        func add(_ key: CacheKey) { keys.withLock { $0.append(key) } }
    }
}
