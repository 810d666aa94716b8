internal import FoundationEssentials
package import Logging
package import NIOCore
package import OnesheetCore
internal import Synchronization

/// The second tier: one checksummed file per entry, in a folder with limits of bytes and count, which survives crashes. Once it is full,
/// an entry that is requested for the first time is not stored, because it would evict others. A prefetched entry is always stored.
///
/// Several processes may have the folder open. Damaged entries are never served. A deleted folder is made again. A folder with
/// foreign files is refused. File operations run on dedicated threads.
package final class DiskTier: CountingTier {
    package let name = "disk"
    private let disk: DiskStore
    private let reader: DiskReader
    private let queue: StoreQueue
    private let maintenance: DiskMaintenance
    /// Lookups have threads of their own, so no store, removal or sweep delays them.
    private let readers: DiskThreads
    private let writers: DiskThreads
    package let logger: Logger
    /// Whether other processes had the folder open when this one opened it.
    package let wasInUse: Bool

    /// Opens or makes the folder at `path`. If that fails because the disk is full or read-only, the tier logs it, serves the
    /// entries that are there, fails to store, and opens the folder as soon as possible.
    /// - Parameters:
    ///   - budgets: the bytes that each kind of entry may occupy on disk.
    ///   - entries: the most entries of all kinds together, at least 1.
    ///   - expires: the longest lifetime of an unread entry; its own can be shorter.
    ///   - extending: the effect of a read on the expiration in this tier.
    ///   - minimumFreeSpace: the bytes that stay free for other programs, whatever the budgets are.
    ///   - isSynced: whether an entry is synced to the medium before lookups find it. Without it, a crash of the machine can damage
    ///     entries, which are then detected and removed when they are read.
    ///   - threads: threads for lookups; half as many store and remove.
    ///   - batchDelay: the time that a queued entry waits so that others are written with it.
    /// - Throws: `CacheError.notACache` if the folder has foreign files.
    package init(
        path: String, budgets: DiskBudgets = DiskBudgets(bytes: 10 << 30), entries: Int = .max,
        expires: CacheExpiration = .days(7),
        extending: ExpirationExtending = .none, minimumFreeSpace: MinimumFreeSpace = .usual, isSynced: Bool = true,
        threads: Int = 4, batchDelay: Duration = DiskSettings.batchDelay,
        clock: WallClock = .system,
        logger: Logger = Logger(label: "onesheet.cache.disk")
    ) throws(CacheError) {
        let settings = DiskSettings(
            path: path, budgets: budgets, entries: entries, minimumFreeSpace: minimumFreeSpace, isSynced: isSynced)
        let access = try FolderAccess(FolderLayout(path: path), clock: clock, logger: logger)
        let life = ExpirationPolicy(limit: expires, extending: extending)
        disk = DiskStore(settings, access: access, clock: clock)
        reader = DiskReader(disk, life: life)
        maintenance = DiskMaintenance(store: disk)
        readers = DiskThreads(threads: threads, limit: 4096, path: path)
        writers = DiskThreads(threads: max(threads / 2, 1), limit: 4096, path: path)
        queue = StoreQueue(DiskWriter(disk, life: life), on: writers, life: life, delay: batchDelay, clock: clock)
        self.logger = logger
        wasInUse = access.wasInUse
        if let openError = access.openError {
            logger.warning("the disk tier stores nothing for now: \(openError)")
        } else {
            adoptLater()
        }
    }

    /// A tier for checking a configuration: every operation fails, and its folder is neither read nor written.
    package init(closedAt path: String, clock: WallClock = .system, logger: Logger = Logger(label: "onesheet.cache.disk")) {
        let settings = DiskSettings(
            path: path, budgets: DiskBudgets(bytes: 0), entries: .max, minimumFreeSpace: .usual, isSynced: true)
        let access = FolderAccess(closed: FolderLayout(path: path), clock: clock, logger: logger)
        let life = ExpirationPolicy(limit: .never, extending: .none)
        disk = DiskStore(settings, access: access, clock: clock)
        reader = DiskReader(disk, life: life)
        maintenance = DiskMaintenance(store: disk)
        readers = DiskThreads(threads: 1, limit: 1, path: path)
        writers = DiskThreads(threads: 1, limit: 1, path: path)
        queue = StoreQueue(DiskWriter(disk, life: life), on: writers, life: life, delay: DiskSettings.batchDelay, clock: clock)
        self.logger = logger
        wasInUse = access.wasInUse
    }

    /// Bytes of bodies that lookups have brought into memory since the start, but for small ones that were read at once.
    package var bytesRead: Int { reader.bytesRead.load(ordering: .relaxed) }

    package func entry(for key: CacheKey) async throws(CacheError) -> CacheEntry? { try await read(key, into: nil) }

    package func counted(_ key: CacheKey, into memory: ReadingMemory) async throws(CacheError) -> CacheEntry? {
        try await read(key, into: memory)
    }

    private func read(_ key: CacheKey, into memory: ReadingMemory?) async throws(CacheError) -> CacheEntry? {
        if let waiting = waitingEntry(for: key) { return memory?.admit(waiting.body.readableBytes) ?? true ? waiting : nil }
        let reader = reader
        let entry = try await readers.run { () throws(CacheError) in try reader.entry(for: key, counting: memory) }
        if reader.hasMuchToNote { noteLater() }
        return entry
    }

    package func head(of key: CacheKey) async throws(CacheError) -> CacheHead? {
        if let waiting = queue.entry(for: key) { return CacheHead(waiting, size: waiting.body.readableBytes, tier: name) }
        let (reader, name) = (reader, name)
        return try await readers.run { () throws(CacheError) in
            try reader.header(of: key).map { CacheHead($0.facts, size: $0.bodyLength, tier: name) }
        }
    }

    /// Looks up an entry that has not expired, without blocking; called on an event loop. Counts a miss if the entry is absent.
    /// - Parameter limit: the largest body to read into memory, in bytes. A larger entry is returned as a file or not at all.
    package func entryNow(for key: CacheKey, reading limit: Int) -> ReadyLookUp {
        if let waiting = waitingEntry(for: key) { return .ready(ReadyEntry(waiting)) }
        let found = reader.residentEntry(for: key, reading: limit)
        if found.entry != nil, reader.hasMuchToNote { noteLater() }
        return found
    }

    /// The bytes of a file that `entryNow` returned. Reads them from the disk if necessary. `nil` if the file has become shorter.
    package func read(_ file: ReadyFile) async throws(CacheError) -> ByteBuffer? {
        let reader = reader
        return try await readers.run { () throws(CacheError) in
            let body = try FolderAccess.naming("read from") { try file.readWaiting() }
            reader.bytesRead.add(body?.readableBytes ?? 0, ordering: .relaxed)
            return body
        }
    }

    package func parts(
        _ ranges: [Range<Int>], of key: CacheKey, validator: String, into memory: ReadingMemory
    ) async throws(CacheError) -> [ByteBuffer]? {
        // One that is not in the folder yet is in memory as a whole.
        guard queue.entry(for: key) == nil else { return nil }
        let reader = reader
        let parts = try await readers.run { () throws(CacheError) in
            try reader.parts(ranges, of: key, validator: validator, counting: memory)
        }
        if reader.hasMuchToNote { noteLater() }
        return parts
    }

    package func contains(_ key: CacheKey) async throws(CacheError) -> Bool {
        if queue.entry(for: key) != nil { return true }
        let reader = reader
        return try await readers.run { () throws(CacheError) in try reader.contains(key) }
    }

    /// The entry under `key` that is not in the folder yet, unless it has expired. Counts a hit.
    private func waitingEntry(for key: CacheKey) -> CacheEntry? {
        guard let entry = queue.entry(for: key) else { return nil }
        disk.count(key) { $0.hits += 1 }
        return entry
    }

    package func store(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?
    ) async throws(CacheError) -> Bool {
        try await queue.store(entry, for: key, ifGeneration: generation)
    }

    /// Takes an entry, which lookups find from then on, and stores it shortly after, as `store(_:for:ifGeneration:)` does.
    /// - Parameter report: gets, once, what `store` would return or throw, if the tier has taken the entry. Called on any thread.
    package func storeLater(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?,
        report: @escaping @Sendable (Result<Bool, CacheError>) -> Void
    ) -> QueuedStore {
        queue.storeLater(entry, for: key, ifGeneration: generation, report: report)
    }

    /// Waits until what was taken so far is stored. A purge calls it first: a new generation drops what waits.
    package func finishStoring() async { await queue.flush() }

    package func generation() async throws(CacheError) -> Int {
        let disk = disk
        return try await readers.run { () throws(CacheError) in try disk.generation() }
    }

    /// The number of times that this process has raised the generation.
    package var raises: Int { queue.raises }

    /// Drops what waits under other generations than `generation`, which another process may have raised. Before the first call, the tier
    /// takes nothing.
    /// - Parameters:
    ///   - generation: the generation that was read.
    ///   - raises: `raises` before it was read. If this process has raised the generation since then, nothing is dropped.
    package func follow(_ generation: Int, readAfter raises: Int) async { await queue.note(read: generation, after: raises) }

    package func raiseGeneration() async throws(CacheError) -> Int {
        let disk = disk
        let generation = try await writers.run { () throws(CacheError) in try disk.raiseGeneration() }
        await queue.note(raisedTo: generation)
        return generation
    }

    package func remove(_ key: CacheKey) async throws(CacheError) {
        let disk = disk
        await queue.cancel(key)
        try await writers.run { () throws(CacheError) in try disk.remove(key) }
    }

    package func remove(_ selection: CacheSelection, dryRun: Bool = false) async throws(CacheError) -> CacheRemoval {
        try await remove(selection, dryRun: dryRun, onStep: {})
    }

    private func remove(
        _ selection: CacheSelection, dryRun: Bool, onStep: () async -> Void
    ) async throws(CacheError) -> CacheRemoval {
        let (disk, reader) = (disk, reader)
        var removal = CacheRemoval()
        if dryRun {
            await queue.flush()
        } else {
            let dropped = await queue.cancel(selection)
            // Those in the folder that they would have replaced go too, whatever their tags are.
            if selection != .all {
                try await writers.run { () throws(CacheError) in try disk.remove(dropped.map(\.key)) }
            }
            removal = dropped.reduce(removal) { $0 + CacheRemoval(entries: 1, bytes: $1.bytes) }
        }
        if selection != .all { try await adopt() }
        try await writers.run { () throws(CacheError) in try reader.note() }
        if dryRun { return try await writers.run { () throws(CacheError) in try disk.count(selection) } }
        while true {
            let step = try await writers.run { () throws(CacheError) in try disk.removeStep(selection) }
            removal = removal + step
            await onStep()
            if selection == .all { break }
            // If the index turned out to be damaged, its entries are known only after they have been indexed again.
            if step.entries == 0, try await !adoptedMore() { break }
        }
        if selection == .all { cleanLater() }
        return removal
    }

    package func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async throws(CacheError) {
        let maintenance = maintenance
        await queue.flush()
        try await adopt()
        var last: Data? = Data()
        while let name = last {
            let page = try await writers.run { () throws(CacheError) in try maintenance.keys(after: name) }
            page.keys.forEach(visit)
            last = page.last
        }
    }

    package func statistics() async throws(CacheError) -> CacheStatistics {
        let maintenance = maintenance
        await queue.flush()
        return try await writers.run { () throws(CacheError) in try maintenance.statistics() }
    }

    /// Removes expired entries, evicts beyond the budgets, and cleans up after dead processes. Works in short steps, so that
    /// lookups and stores never wait for all of it.
    /// - Parameter onStep: called after each step. Only tests use it.
    package func sweep(onStep: () async -> Void = {}) async throws(CacheError) {
        let maintenance = maintenance
        try await adopt()
        _ = try await remove(.expired, dryRun: false, onStep: onStep)
        if try await writers.run({ () throws(CacheError) in try maintenance.isFull() }) {
            while try await writers.run({ () throws(CacheError) in try maintenance.evictStep() }) { await onStep() }
        }
        try await writers.run { () throws(CacheError) in try maintenance.removeLeftovers() }
    }

    /// Reads and checks every file, and compares the folder with the index.
    /// - Parameter repair: removes damaged files, and updates the index to match the others.
    package func verify(repair: Bool = false) async throws(CacheError) -> DiskVerification {
        let maintenance = maintenance
        await queue.flush()
        var found = DiskVerification()
        var part: Int? = 0
        while let next = part {
            let step = try await writers.run { () throws(CacheError) in try maintenance.verify(from: next, repair: repair) }
            found = found + step.0
            part = step.next
        }
        var last: Data? = Data()
        while let name = last {
            let page = try await writers.run { () throws(CacheError) in try maintenance.verifyRows(after: name, repair: repair) }
            found.missing += page.missing
            last = page.last
        }
        found.isRepaired = repair
        return found
    }

    /// Stores what waits, stops the work and closes the index.
    package func close() async throws(CacheError) {
        await queue.close()
        let (disk, reader, logger) = (disk, reader, logger)
        try await writers.run { () throws(CacheError) in
            // The last reads matter little, and a read-only folder must not delay the shutdown.
            do { try reader.note() } catch { logger.debug("cannot record the latest reads in the cache index: \(error)") }
            try disk.access.close()
        }
        try await writers.close()
        try await readers.close()
    }

    /// Indexes all files that the index does not know. There are such files only after the index was lost, and it happens
    /// automatically in the background. Counts are complete only after it.
    package func adopt() async throws(CacheError) {
        _ = try await adoptedMore()
    }

    /// - Returns: whether there was anything to look for.
    private func adoptedMore() async throws(CacheError) -> Bool {
        let maintenance = maintenance
        var isMore = false
        while try await writers.run({ () throws(CacheError) in try maintenance.adoptStep() }) { isMore = true }
        return isMore
    }

    /// The same, in the background.
    private func adoptLater() {
        writers.runLater { [maintenance, logger, weak self] in
            do {
                if try maintenance.adoptStep() { self?.adoptLater() }
            } catch let error as CacheError where error == FolderAccess.closed {
                // The next process that opens the folder continues.
            } catch {
                logger.warning("some files of the cache are not in its index yet: \(error)")
            }
        }
    }

    /// Deletes the trash in the background, because a million files take a while.
    private func cleanLater() {
        writers.runLater { [maintenance, logger] in
            do {
                try maintenance.removeLeftovers()
            } catch {
                logger.warning("removed entries are still on the disk: \(error)")
            }
        }
    }

    private func noteLater() {
        writers.runLater { [reader, logger] in
            do {
                try reader.note()
            } catch {
                logger.warning("cannot record the latest reads in the cache index: \(error)")
            }
        }
    }
}
