import NIOCore
package import OnesheetCache
package import OnesheetCore
import Synchronization

/// The tier that several servers share, in an object store.
///
/// The store may be slow, down, or wrong about its bytes. So every call has a deadline, a store that fails is left alone for a while,
/// and every object is checked. Writes wait in a queue and delay no response; until then the tier serves them from there.
package final class SharedTier: CountingTier {
    /// The name in metrics and in `Cache-Status`.
    package static let name = "shared"

    package var name: String { Self.name }

    let store: any ObjectStore
    let names: SharedNames
    let settings: SharedSettings
    let calls: StoreCalls
    let queue: WriteBehind<SharedWrite>
    let clock: WallClock
    private let policy: ExpirationPolicy
    /// The purges of all servers; `nil` without a coordinator: then this one knows only its own, which delete what they purge.
    let purges: PurgeLog?
    private let absent: AbsentNames
    private let discards = BackgroundWork(limit: 64, bytes: 0)
    private let state: Mutex<State>

    private struct State {
        var counts = SourceCounts()
        var generation = 0
        /// The newest purge that `generation` counts.
        var stamp: PurgeStamp?
        /// The result of the probe; `nil` before it. Until then, conditions are tried.
        var abilities: StoreAbilities?
    }

    package init(
        _ store: any ObjectStore, _ settings: SharedSettings, purges: PurgeLog? = nil, clock: WallClock
    ) {
        self.store = store
        self.settings = settings
        self.purges = purges
        self.clock = clock
        names = SharedNames(prefix: settings.prefix)
        calls = StoreCalls(settings: settings)
        queue = WriteBehind(limit: settings.queueLimit, bytes: settings.queueBytes)
        policy = ExpirationPolicy(limit: settings.expires, extending: .none)
        absent = AbsentNames(seconds: settings.absence, clock: clock)
        state = Mutex(State(stamp: purges?.now))
    }

    /// Counters since the start.
    package var metrics: SharedTierMetrics {
        var metrics = calls.metrics
        (metrics.queued, metrics.queuedBytes) = queue.size
        return metrics
    }

    /// The abilities of the store; `nil` before `probe`.
    package var abilities: StoreAbilities? { state.withLock { $0.abilities } }

    /// Tries the abilities of the store, and uses conditions only if it has them.
    package func probe() async throws(StoreError) -> StoreAbilities {
        let outcome = await calls.executor.run(within: settings.writeDeadline) {
            [store, settings] () async -> Result<StoreAbilities, StoreError> in
            do throws(StoreError) { return .success(try await store.probe(prefix: "\(settings.prefix)/")) } catch {
                return .failure(error)
            }
        }
        let abilities: StoreAbilities
        switch outcome {
        case .answer(let result): abilities = try result.get()
        case .late, .cancelled: throw .timedOut(operation: "probe")
        case .crowded: throw .unreachable(operation: "probe", reason: "other calls had all threads of this server")
        }
        state.withLock { $0.abilities = abilities }
        return abilities
    }

    /// Writes queued entries for a limited time, then accepts no more.
    package func close() async {
        queue.close()
        _ = await withTimeoutAbandoning(settings.flushDeadline) { [queue] in await queue.flush() }
        let lost = queue.drop { _ in true }.count
        if lost > 0 { calls.count { $0.dropped["shutdown", default: 0] += lost } }
    }

    /// Waits until everything that was stored is in the store, or was dropped.
    package func flush() async {
        await queue.flush()
        await discards.finish()
    }

    /// Waits until other servers can find what was stored under `key`, or until it is certain that they will not.
    package func settle(_ key: CacheKey) async { await queue.settle(key) }

    /// Makes the next lookup ask the store for an entry that was absent a moment ago.
    package func forgetAbsence(of key: CacheKey) { absent.forget(names.name(of: key)) }

    // MARK: Looking up

    package func entry(for key: CacheKey) async throws(CacheError) -> CacheEntry? { try await read(key, into: nil) }

    package func counted(_ key: CacheKey, into memory: ReadingMemory) async throws(CacheError) -> CacheEntry? {
        try await read(key, into: memory)
    }

    package func head(of key: CacheKey) async throws(CacheError) -> CacheHead? {
        if let item = queue.item(for: key) {
            return isServed(item) ? CacheHead(item.entry, size: item.entry.body.readableBytes, tier: name) : nil
        }
        return try await found(key) { [self] name, digest async throws(StoreCalls.Failure) in
            try await readHeader(name, digest)
        }.map { CacheHead($0.facts, size: $0.bodyLength, tier: name) }
    }

    private func read(_ key: CacheKey, into memory: ReadingMemory?) async throws(CacheError) -> CacheEntry? {
        let found = try await look(for: key)
        guard let found, memory?.admit(found.body.readableBytes) ?? true else {
            state.withLock { $0.counts[key].misses += 1 }
            return nil
        }
        state.withLock { $0.counts[key].hits += 1 }
        return found
    }

    /// Reads only the start of the object, so damage of its body shows when the entry is read.
    package func contains(_ key: CacheKey) async throws(CacheError) -> Bool {
        if let item = queue.item(for: key) { return isServed(item) }
        return try await found(key) { [self] name, digest async throws(StoreCalls.Failure) in
            try await readHeader(name, digest)
        } != nil
    }

    private func look(for key: CacheKey) async throws(CacheError) -> CacheEntry? {
        if let item = queue.item(for: key) { return isServed(item) ? item.entry : nil }
        return try await found(key) { [self] name, digest async throws(StoreCalls.Failure) in
            try await read(name, digest, isRequest: true)
        }?.entry
    }

    private func isServed(_ item: SharedWrite) -> Bool {
        ExpirationPolicy.isAlive(created: item.entry.created, end: item.end, now: clock.now) && !isPurged(item)
    }

    /// The content of the object under `key`, if it may be served. Notes absent names, and discards damaged objects.
    private func found<Content: Sendable>(
        _ key: CacheKey, by read: (String, Digest128) async throws(StoreCalls.Failure) -> Reading<Content>
    ) async throws(CacheError) -> Content? {
        let name = names.name(of: key)
        guard !absent.contains(name) else { return nil }
        let reading: Reading<Content>
        do throws(StoreCalls.Failure) {
            reading = try await read(name, key.entryName)
        } catch {
            switch error {
            case .resting, .busy, .cancelled: return nil
            case .store: throw error.cacheError("look up")
            }
        }
        switch reading {
        case .absent: absent.note(name)
        case .damaged:
            noteDamage(of: key)
            discards.run { [self] in await discard(name) }
        case .expired, .purged: absent.note(name)
        case .entry(let content): return content
        }
        return nil
    }

    private func isPurged(_ item: SharedWrite) -> Bool { isPurged(item.stamp, item.entry.tags) }

    func isPurged(_ stamp: PurgeStamp?, _ tags: [CacheTag]) -> Bool { purges?.isPurged(stamp, tags: tags) ?? false }

    func noteDamage(of key: CacheKey?) {
        calls.count { $0.damaged += 1 }
        state.withLock { $0.counts[key].damaged += 1 }
    }

    /// Deletes an object that cannot be served. It would only be read again otherwise, so a failure is not reported.
    private func discard(_ name: String) async {
        do throws(StoreCalls.Failure) {
            try await calls.call(.delete, outcome: { "deleted" }) { [store] () async throws(StoreError) in
                try await store.delete([name])
            }
        } catch { /* Counted by its outcome. */  }
    }

    // MARK: Storing

    package func store(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?
    ) async throws(CacheError) -> Bool {
        let refusal = refusal(of: entry, under: key)
        let name = names.name(of: key)
        let end = policy.end(of: entry, now: clock.now)
        // One step: no purge comes between the comparison and the queue.
        let admission = state.withLock { state -> WriteBehind<SharedWrite>.Admission? in
            advance(&state)
            guard generation == nil || generation == state.generation else { return nil }
            if let refusal {
                state.counts.evict(state.counts.number(of: key), reason: refusal)
                return .accepted(needsWriter: false)
            }
            let admission = queue.add(
                SharedWrite(key: key, name: name, entry: entry, end: end, stamp: state.stamp), writers: SharedSettings.writers)
            switch admission {
            case .accepted: state.counts[key].stores += 1
            case .full: state.counts.evict(state.counts.number(of: key), reason: "queue full")
            case .closed: state.counts.evict(state.counts.number(of: key), reason: "shutdown")
            }
            return admission
        }
        switch admission {
        case nil: return false
        case .full: calls.count { $0.dropped["queue full", default: 0] += 1 }
        case .closed: calls.count { $0.dropped["shutdown", default: 0] += 1 }
        case .accepted(let needsWriter):
            if refusal == nil { absent.forget(name) }
            if needsWriter { Task(executorPreference: calls.executor) { [self] in await write() } }
        }
        return true
    }

    /// The reason for which an entry does not belong in the store.
    private func refusal(of entry: CacheEntry, under key: CacheKey) -> String? {
        if entry.body.readableBytes > settings.bodyLimit { return "too large" }
        return names.furtherTags(of: entry, under: key).count > SharedSettings.furtherTags ? "too many tags" : nil
    }

    private func write() async {
        while let item = queue.next() {
            if isPurged(item) {
                calls.count { $0.dropped["purged", default: 0] += 1 }
            } else {
                do throws(StoreCalls.Failure) {
                    try await write(item)
                } catch {
                    calls.count { $0.dropped[error.outcome, default: 0] += 1 }
                }
            }
            queue.finish([item])
        }
    }

    private func write(_ item: SharedWrite) async throws(StoreCalls.Failure) {
        // Before the entry, so that a removal finds it.
        for tag in names.furtherTags(of: item.entry, under: item.key) {
            _ = try await put(ByteBuffer(), as: names.marker(of: tag, for: item.name), if: .none)
        }
        let body = SharedObject.bytes(of: item)
        // Most variants are written once, by one of the servers.
        let isFirst = item.key.kind == .variant && state.withLock { $0.abilities?.hasConditions ?? true }
        guard try await !put(body, as: item.name, if: isFirst ? .absent : .none) else { return }
        let present = try await read(item.name, item.key.entryName, isRequest: false)
        if case .entry(let present) = present, isAsGood(present, as: item) { return }
        // If it has changed again, another server has just written it.
        _ = try await put(body, as: item.name, if: present.content.map { .revision($0.revision) } ?? .none)
    }

    /// Whether the entry in the store serves as well as the one to write.
    private func isAsGood(_ present: SharedObject, as item: SharedWrite) -> Bool {
        if present.entry.created > item.entry.created { return true }
        return present.entry.validator == item.entry.validator && present.entry.tags == item.entry.tags
            && present.entry.freshness == item.entry.freshness && present.header.end == item.end
    }

    /// - Returns: whether the condition held.
    func put(
        _ body: ByteBuffer, as name: String, if condition: StoreCondition, isRequest: Bool = true
    ) async throws(StoreCalls.Failure) -> Bool {
        let isWritten = try await calls.call(.put, isRequest: isRequest, outcome: { $0 ? "stored" : "exists" }) {
            [store] () async throws(StoreError) in
            try await store.put(body, as: name, if: condition) != nil
        }
        if isWritten { calls.count { $0.bytesWritten += body.readableBytes } }
        return isWritten
    }

    // MARK: Generations and counting

    /// Changes with every purge by this server, and with every purge by others that the log knows.
    package func generation() async -> Int {
        state.withLock { state in
            advance(&state)
            return state.generation
        }
    }

    package func raiseGeneration() async -> Int {
        state.withLock { state in
            state.stamp = purges?.now
            state.generation += 1
            return state.generation
        }
    }

    private func advance(_ state: inout State) {
        guard case let stamp = purges?.now, stamp != state.stamp else { return }
        state.stamp = stamp
        state.generation += 1
    }

    /// Counters since the start. The number of entries is not among them: counting them takes a list of the whole store. `held` does.
    package func statistics() async -> CacheStatistics { CacheStatistics(sources: state.withLock { $0.counts.named }) }
}
