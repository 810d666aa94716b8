internal import Logging
package import OnesheetCore

/// The servers that still have to do a purge.
package enum PurgeReach: Sendable {
    /// This one and the others, which this one tells of it.
    /// - Parameter notices: further tags to announce.
    case allServers(notices: [CacheTag] = [])
    /// This server and the tier of all servers, because the first attempt failed there. The other servers know of the purge already.
    case allServersAgain
    /// This one. Another server has removed the entries of the tier of all servers.
    case thisServer
}

/// Removals from every tier, and purges: removals together with the results of running work.
///
/// A purge raises the generation of every tier. What is remembered beside the tiers has the generation in which it was learned, and
/// is forgotten with it: see docs/reference/purges.md.
extension Cache {
    /// Removes the entries that match one of `selections` from every tier, as one purge: no result of earlier work is found afterwards if
    /// it is stored under its generation. A removal of expired entries purges nothing, because no tier serves them.
    /// - Throws: if a tier may still have some; the other tiers have removed theirs.
    package func purge(
        _ selections: [CacheSelection], on reach: PurgeReach = .allServers()
    ) async throws(CacheError) -> PurgeResult {
        guard selections.contains(where: { $0 != .expired }) else {
            // What is being written may expire before its row is there.
            await disk?.finishStoring()
            return PurgeResult(try await removeEach(selections).get())
        }
        switch reach {
        case .thisServer: return PurgeResult(try await purgeTiers(selections, includingShared: false).get())
        case .allServersAgain, .allServers:
            guard let cluster, cluster.tellsOfPurges else { return PurgeResult(try await purgeTiers(selections).get()) }
            guard case .allServers(let notices) = reach else {
                return try result(of: await purgeTiers(selections), isAnnounced: true)
            }
            var outcome = Outcome()
            let isAnnounced = await cluster.announcing(selections + notices.map { .tag($0) }) {
                outcome = await purgeTiers(selections)
                return outcome.failure == nil
            }
            return try result(of: outcome, isAnnounced: isAnnounced)
        }
    }

    /// Counts what a removal of the entries that match one of `selections` would remove.
    package func count(_ selections: [CacheSelection]) async throws(CacheError) -> CacheRemoval {
        try await removeEach(selections, dryRun: true).get()
    }

    /// Purges as `purge` does, and again after a pause until this server serves no purged entry. Only the first attempt tells the other servers.
    /// - Parameters:
    ///   - pause: the pause after the first failure. It doubles each time, up to a minute.
    ///   - onFailure: called after each failure.
    /// - Throws: `CancellationError` if the task is cancelled during a pause.
    package func purgeRetrying(
        _ selections: [CacheSelection], on reach: PurgeReach = .allServers(), pause: Duration = .seconds(1),
        onFailure: (CacheError) -> Void
    ) async throws {
        var reach = reach
        var backoff = Backoff(from: pause, upTo: .seconds(60))
        while true {
            do throws(CacheError) {
                _ = try await purge(selections, on: reach)
                return
            } catch {
                onFailure(error)
            }
            if case .allServers = reach { reach = .allServersAgain }
            // The disk may be full, or the store not available, for a while. A retry without a real pause would only keep it busy.
            try await Task.sleep(for: backoff.next())
        }
    }

    /// Removes the entry under `key` from every tier.
    /// - Throws: if a tier may still have it. The other tiers have removed it.
    package func remove(_ key: CacheKey) async throws(CacheError) {
        _ = try await inEveryTier { tier throws(CacheError) in
            try await tier.remove(key)
            return CacheRemoval()
        }.get()
    }

    /// Removes the entries that match `selection` from every tier. Running work may store others, so it is no purge.
    /// - Throws: if a tier may still have some. The other tiers have removed theirs.
    @discardableResult
    package func remove(_ selection: CacheSelection) async throws(CacheError) -> CacheRemoval {
        try await removeEach([selection]).get()
    }

    /// The outcome of a removal in all tiers.
    private struct Outcome {
        var removal = CacheRemoval()
        /// The last failure of a tier of this server.
        var failure: CacheError?
        /// The last failure of the tier of all servers.
        var sharedFailure: CacheError?

        mutating func noteFailures(of other: Outcome) {
            failure = other.failure ?? failure
            sharedFailure = other.sharedFailure ?? sharedFailure
        }

        func get() throws(CacheError) -> CacheRemoval {
            if let error = failure ?? sharedFailure { throw error }
            return removal
        }
    }

    /// The result of a purge of which the other servers are told, now or later. Objects that remain in the shared store are older than the
    /// purge, so no server serves them.
    private func result(of outcome: Outcome, isAnnounced: Bool) throws(CacheError) -> PurgeResult {
        if let failure = outcome.failure { throw failure }
        if let error = outcome.sharedFailure {
            logger.warning("the shared store still has purged objects: \(error)")
        }
        let rest: UnfinishedPurge? = isAnnounced ? (outcome.sharedFailure == nil ? nil : .undeleted) : .unannounced
        return PurgeResult(outcome.removal, rest: rest)
    }

    /// - Parameter includingShared: whether to include the tier of all servers.
    private func purgeTiers(_ selections: [CacheSelection], includingShared: Bool = true) async -> Outcome {
        var outcome = Outcome()
        // Waiting entries were stored before the purge. The new generation would drop them all, even those that do not match.
        await disk?.finishStoring()
        // Twice: work that begins during the first removal may read remaining entries and store results of them.
        for _ in 0..<2 {
            do {
                try await invalidations.raiseGeneration()
            } catch {
                outcome.failure = error
            }
            let removed = await removeEach(selections, includingShared: includingShared)
            if removed.removal.entries > outcome.removal.entries { outcome.removal = removed.removal }
            outcome.noteFailures(of: removed)
        }
        return outcome
    }

    /// Removes the entries that match each of `selections`, even if a tier fails for one of them.
    private func removeEach(_ selections: [CacheSelection], includingShared: Bool = true, dryRun: Bool = false) async -> Outcome {
        var outcome = Outcome()
        for selection in selections {
            let removed = await inEveryTier(includingShared: includingShared, removes: !dryRun) { tier throws(CacheError) in
                try await tier.remove(selection, dryRun: dryRun)
            }
            outcome.removal = outcome.removal + removed.removal
            outcome.noteFailures(of: removed)
        }
        return outcome
    }

    /// From the last tier to the first, so that nothing can be promoted from a tier that is still to come.
    /// - Parameter removes: whether `body` removes entries. Then promotions that have begun before are refused.
    private func inEveryTier(
        includingShared: Bool = true, removes: Bool = true, _ body: (any CacheTier) async throws(CacheError) -> CacheRemoval
    ) async -> Outcome {
        if removes { removals.begin() }
        defer { if removes { removals.end() } }
        var outcome = Outcome()
        for (number, tier) in tiers(includingShared: includingShared).enumerated().reversed() {
            do {
                let removal = try await body(tier)
                if removal.entries > outcome.removal.entries { outcome.removal = removal }
            } catch {
                // Memory is the first.
                if row.isShared(number - 1) { outcome.sharedFailure = error } else { outcome.failure = error }
            }
        }
        return outcome
    }
}
