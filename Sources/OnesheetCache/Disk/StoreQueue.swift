internal import NIOCore
internal import NIOPosix
internal import OnesheetCore
internal import Synchronization

/// Entries on their way into the folder. They are written in batches: a batch of all entries of a few requests costs little more than one
/// entry alone. Lookups find an entry from the moment that it is in the queue.
final class StoreQueue: Sendable {
    private let entries = WriteBehind<DiskWrite>(limit: DiskSettings.queueLimit, bytes: DiskSettings.queueBytes)
    private let writer: DiskWriter
    private let writers: DiskThreads
    private let life: ExpirationPolicy
    private let clock: WallClock
    /// The folder's generation when it was last read.
    private let known = Mutex<Int?>(nil)

    /// - Parameter writers: the threads that write.
    init(_ writer: DiskWriter, on writers: DiskThreads, life: ExpirationPolicy, clock: WallClock) {
        self.writer = writer
        self.writers = writers
        self.life = life
        self.clock = clock
    }

    /// The fresh entry under `key` that is not in the folder yet.
    func entry(for key: CacheKey) -> CacheEntry? {
        guard let entry = entries.item(for: key)?.entry else { return nil }
        let now = clock.now
        return ExpirationPolicy.isAlive(created: entry.created, end: life.end(of: entry, now: now), now: now) ? entry : nil
    }

    /// Stores an entry at once, and waits for it.
    /// - Returns: whether the generation was the same.
    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async throws(CacheError) -> Bool {
        let isOrdered = Urgency.current == .prefetch
        return try await withCheckedContinuation { continuation in
            let item = DiskWrite(key: key, entry: entry, generation: generation, isOrdered: isOrdered, isAwaited: true) {
                continuation.resume(returning: $0)
            }
            // The callers wait, so their number is the bound.
            switch entries.add(item, writers: writers.threads, isBounded: false, replacing: Self.supersede) {
            case .accepted(let needsWriter): if needsWriter { write() }
            case .full, .closed: item.report(.failure(FolderAccess.closed))
            }
        }.get()
    }

    /// Stores an entry after a short while, together with others, unless a purge comes before: purges find only what is in the folder.
    /// - Parameter report: gets the outcome, once.
    /// - Returns: whether the queue has taken the entry. If not, `report` is not called.
    func storeLater(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?,
        report: @escaping @Sendable (Result<Bool, CacheError>) -> Void
    ) -> Bool {
        let isOrdered = Urgency.current == .prefetch
        // One step with the comparison: `note(generation:)` finds everything that was added before it.
        let admission = known.withLock { known -> WriteBehind<DiskWrite>.Admission? in
            guard let known else { return .full }
            guard generation ?? known == known else { return nil }
            let item = DiskWrite(
                key: key, entry: entry, generation: known, isOrdered: isOrdered, isAwaited: false, report: report)
            return entries.add(item, writers: 1, replacing: Self.supersede)
        }
        switch admission {
        case .accepted(let needsWriter): if needsWriter { writeLater() }
        case .full, .closed: return false
        case nil: report(.success(false))
        }
        return true
    }

    /// Records the folder's generation. If it has changed, drops the entries of another one.
    func note(generation: Int) async {
        let dropped = known.withLock { known -> [DiskWrite]? in
            guard known != generation else { return nil }
            known = generation
            return entries.drop { $0.generation != nil && $0.generation != generation }
        }
        guard let dropped else { return }
        for item in dropped { item.report(.success(false)) }
        await entries.settle { $0.generation != nil && $0.generation != generation }
    }

    /// Drops the entry under `key`, or waits until it is written.
    func cancel(_ key: CacheKey) async { for item in await entries.cancel(key) { Self.supersede(item) } }

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
            while case let batch = entries.next(limit: DiskSettings.batch), !batch.isEmpty { write(batch) }
        }
    }

    /// Writes one batch after a while, and further ones again after a while.
    private func writeLater() {
        NIOSingletons.posixEventLoopGroup.any().scheduleTask(in: TimeAmount(DiskSettings.batchDelay)) { [self] in
            writers.runLater { [self] in
                let batch = entries.next(limit: DiskSettings.batch)
                if batch.isEmpty { return }
                write(batch)
                if entries.pause() { writeLater() }
            }
        }
    }

    private func write(_ batch: [DiskWrite]) {
        let outcomes = Array(zip(batch, writer.store(batch)))
        // Who flushes finds all of these reported, and who waits for a store finds its entry in the folder.
        for (item, outcome) in outcomes where !item.isAwaited { item.report(outcome) }
        entries.finish(batch)
        for (item, outcome) in outcomes where item.isAwaited { item.report(outcome) }
    }
}
