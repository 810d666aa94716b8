internal import NIOCore
internal import NIOPosix
internal import OnesheetCore
internal import Synchronization

/// Entries on their way into the folder. They are written in batches, because the transactions of a batch cost little more than those of
/// one entry. Lookups find an entry from the moment that it is in the queue.
final class StoreQueue: Sendable {
    private let entries = WriteBehind<DiskWrite>(limit: DiskSettings.queueLimit, bytes: DiskSettings.queueBytes)
    private let writer: DiskWriter
    private let writers: DiskThreads
    private let life: ExpirationPolicy
    private let clock: WallClock
    private let delay: Duration
    private let known = Mutex(Known())

    private struct Known {
        /// The folder's generation, as far as this process knows.
        var generation: Int?
        /// The purges by this process.
        var raises = 0
    }

    /// - Parameters:
    ///   - writers: the threads that write.
    ///   - delay: the time for which an entry waits for others.
    init(_ writer: DiskWriter, on writers: DiskThreads, life: ExpirationPolicy, delay: Duration, clock: WallClock) {
        self.writer = writer
        self.delay = delay
        self.writers = writers
        self.life = life
        self.clock = clock
    }

    /// The entry under `key` that is not in the folder yet, unless it has expired.
    func entry(for key: CacheKey) -> CacheEntry? {
        guard let item = entries.item(for: key) else { return nil }
        // The folder will refuse an entry from before a purge.
        if let generation = item.generation, generation != known.withLock({ $0.generation }) { return nil }
        let (entry, now) = (item.entry, clock.now)
        return ExpirationPolicy.isAlive(created: entry.created, end: life.end(of: entry, now: now), now: now) ? entry : nil
    }

    /// Stores an entry at once, and waits for it.
    /// - Returns: whether the generation was the same.
    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async throws(CacheError) -> Bool {
        let isPrefetch = Urgency.current == .prefetch
        return try await withCheckedContinuation { continuation in
            let item = DiskWrite(key: key, entry: entry, generation: generation, isPrefetch: isPrefetch, isAwaited: true) {
                continuation.resume(returning: $0)
            }
            let admission = known.withLock { known -> WriteBehind<DiskWrite>.Admission? in
                if let generation, let present = known.generation, generation != present { return nil }
                return entries.add(item, writers: writers.threads, awaitedLimit: writers.limit, replacing: Self.supersede)
            }
            switch admission {
            case .accepted(let needsWriter): if needsWriter { write() }
            case .full: item.report(.failure(writers.overload))
            case .closed: item.report(.failure(FolderAccess.closed))
            case nil: item.report(.success(false))
            }
        }.get()
    }

    /// Stores an entry after a short while, together with others, unless the generation changes before.
    /// - Parameter report: gets the outcome, once, if the queue has taken the entry.
    func storeLater(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?,
        report: @escaping @Sendable (Result<Bool, CacheError>) -> Void
    ) -> QueuedStore {
        let isPrefetch = Urgency.current == .prefetch
        // One step with the comparison: `note` finds everything that was added before it.
        let admission = known.withLock { known -> WriteBehind<DiskWrite>.Admission? in
            guard let present = known.generation else { return .full }
            guard generation ?? present == present else { return nil }
            let item = DiskWrite(
                key: key, entry: entry, generation: present, isPrefetch: isPrefetch, isAwaited: false, report: report)
            return entries.add(item, writers: 1, replacing: Self.supersede)
        }
        switch admission {
        case .accepted(let needsWriter):
            if needsWriter { writeLater() }
            return .taken
        case .full, .closed: return .full
        case nil: return .refused
        }
    }

    /// The number of purges by this process.
    var raises: Int { known.withLock(\.raises) }

    /// Records a generation that was read.
    /// - Parameter raises: the purges before the read. If this process has purged since then, the read is ignored.
    func note(read generation: Int, after raises: Int) async { await note { $0.raises == raises ? generation : nil } }

    /// Records a purge by this process.
    func note(raisedTo generation: Int) async {
        await note { known in
            known.raises += 1
            return max(known.generation ?? generation, generation)
        }
    }

    /// Drops the entries of an earlier generation, if there is a new one, and waits for those that are being written.
    private func note(_ next: (inout Known) -> Int?) async {
        let change = known.withLock { known -> (generation: Int, dropped: [DiskWrite])? in
            guard let generation = next(&known), generation != known.generation else { return nil }
            known.generation = generation
            return (generation, entries.drop { $0.generation != nil && $0.generation != generation })
        }
        guard let (generation, dropped) = change else { return }
        for item in dropped { item.report(.success(false)) }
        await entries.settle { $0.generation != nil && $0.generation != generation }
    }

    /// Drops the entry under `key`, or waits until it is written.
    func cancel(_ key: CacheKey) async { for item in await entries.cancel(key) { Self.supersede(item) } }

    /// Drops the entries that match `selection`, and waits for those that are being written, also under the keys of the dropped ones.
    /// Expired ones are refused when their turn comes.
    /// - Returns: the dropped entries.
    func cancel(_ selection: CacheSelection) async -> [DiskWrite] {
        guard selection != .expired else { return [] }
        let now = clock.now
        let isConcerned: (DiskWrite) -> Bool = { selection.matches($0.entry, end: nil, now: now) }
        let dropped = entries.drop(where: isConcerned)
        for item in dropped { Self.supersede(item) }
        let keys = Set(dropped.map(\.key))
        await entries.settle { isConcerned($0) || keys.contains($0.key) }
        return dropped
    }

    /// Writes what is in the queue now, and waits for it.
    func flush() async {
        if entries.startWriter() { write() }
        await entries.flush()
    }

    /// Accepts nothing more, and writes the rest.
    func close() async {
        entries.close()
        await flush()
    }

    /// Another entry replaces this one before it is written, or a removal has dropped it.
    private static func supersede(_ item: DiskWrite) { item.report(.success(true)) }

    private func write() {
        writers.runLater { [self] in
            let batch = entries.next(limit: DiskSettings.batch)
            if batch.isEmpty { return }
            write(batch)
            // Other jobs, such as a purge, run between two batches.
            write()
        }
    }

    /// Writes a batch after the delay, and repeats while entries wait.
    private func writeLater() {
        NIOSingletons.posixEventLoopGroup.any().scheduleTask(in: TimeAmount(delay)) { [self] in
            writers.runLater { [self] in
                let batch = entries.next(limit: DiskSettings.batch)
                if batch.isEmpty { return }
                write(batch)
                guard entries.pause() else { return }
                if batch.count == DiskSettings.batch { write() } else { writeLater() }
            }
        }
    }

    private func write(_ batch: [DiskWrite]) {
        let outcomes = Array(zip(batch, writer.store(batch)))
        // Report these before `flush` returns. Report awaited stores after their entries are in the folder.
        for (item, outcome) in outcomes where !item.isAwaited { item.report(outcome) }
        entries.finish(batch)
        for (item, outcome) in outcomes where item.isAwaited { item.report(outcome) }
    }
}

/// What the disk tier does with an entry to be stored later.
package enum QueuedStore: Sendable {
    /// The tier has taken it.
    case taken
    /// Too many wait.
    case full
    /// There was a purge since the work began.
    case refused
}
