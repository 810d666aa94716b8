internal import FoundationEssentials
package import Logging
package import OnesheetCore

/// The second tier: one checked file per entry, in a folder bounded by bytes, that outlives the process however it ends. Once a budget is
/// full, what is asked for the first time is not stored, because others would have to go for it; what was prefetched always is.
///
/// A folder may be open in several processes. What is damaged is never served; a folder that was deleted comes back;
/// a folder that is not ours is refused. File work runs on threads of its own.
package final class DiskTier: ImmediateTier {
    package let name = "disk"
    private let disk: DiskStore
    private let maintenance: DiskMaintenance
    /// Look-ups have threads of their own: no store, removal or sweep ever keeps one waiting.
    private let readers: DiskWorkers
    private let workers: DiskWorkers
    package let logger: Logger

    /// Opens the folder at `path`, or makes it. If that fails because the disk is full or cannot be written, the tier says so in the
    /// log, finds what is in the folder, fails to store, and opens the folder as soon as that is possible.
    /// - Parameters:
    ///   - budgets: how many bytes each kind of entry may take on disk.
    ///   - expires: the longest that an entry stays unread; its own time can be shorter.
    ///   - extending: what reading an entry does to its time here.
    ///   - minimumFreeSpace: how many bytes stay free for others, whatever the budgets say.
    ///   - isSynced: whether an entry is on the medium before it can be found. Without it a machine that goes down can leave damaged
    ///     entries, which are then found and removed when they are read.
    ///   - threads: how many threads look up; half as many store and remove.
    /// - Throws: `CacheError.notACache` if the folder has files in it that are not ours.
    package init(
        path: String, budgets: DiskBudgets = DiskBudgets(bytes: 10 << 30), expires: CacheExpiration = .days(7),
        extending: ExpirationExtending = .none, minimumFreeSpace: MinimumFreeSpace = .usual, isSynced: Bool = true,
        threads: Int = 4,
        clock: WallClock = .system,
        logger: Logger = Logger(label: "onesheet.cache.disk")
    ) throws(CacheError) {
        let settings = DiskSettings(path: path, budgets: budgets, minimumFreeSpace: minimumFreeSpace, isSynced: isSynced)
        let access = try FolderAccess(FolderLayout(path: path), clock: clock, logger: logger)
        disk = DiskStore(settings, access: access, life: ExpirationPolicy(limit: expires, extending: extending), clock: clock)
        maintenance = DiskMaintenance(store: disk)
        readers = DiskWorkers(threads: threads, limit: 4096, path: path)
        workers = DiskWorkers(threads: max(threads / 2, 1), limit: 4096, path: path)
        self.logger = logger
        if let openError = access.openError {
            logger.warning("Nothing is stored on the disk until it can be: \(openError)")
        } else {
            adoptLater()
        }
    }

    /// A tier for a look at the configuration: everything asked of it fails, and its folder is neither read nor written.
    package init(closedAt path: String, clock: WallClock = .system, logger: Logger = Logger(label: "onesheet.cache.disk")) {
        let settings = DiskSettings(path: path, budgets: DiskBudgets(bytes: 0), minimumFreeSpace: .usual, isSynced: true)
        let access = FolderAccess(closed: FolderLayout(path: path), clock: clock, logger: logger)
        disk = DiskStore(settings, access: access, life: ExpirationPolicy(limit: .never, extending: .none), clock: clock)
        maintenance = DiskMaintenance(store: disk)
        readers = DiskWorkers(threads: 1, limit: 1, path: path)
        workers = DiskWorkers(threads: 1, limit: 1, path: path)
        self.logger = logger
    }

    package func entry(for key: CacheKey) async throws(CacheError) -> CacheEntry? {
        let disk = disk
        let entry = try await readers.run { () throws(CacheError) in try disk.entry(for: key) }
        if disk.hasMuchToNote { noteLater() }
        return entry
    }

    package func entryNow(for key: CacheKey, reading limit: Int) -> ReadyEntry? {
        guard let entry = disk.residentEntry(for: key, reading: limit) else { return nil }
        if disk.hasMuchToNote { noteLater() }
        return entry
    }

    package func contains(_ key: CacheKey) async throws(CacheError) -> Bool {
        let disk = disk
        return try await readers.run { () throws(CacheError) in try disk.contains(key) }
    }

    package func store(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?
    ) async throws(CacheError) -> Bool {
        let (disk, isOrdered) = (disk, Urgency.current == .prefetch)
        return try await workers.run { () throws(CacheError) in
            try disk.store(entry, for: key, ifGeneration: generation, isOrdered: isOrdered)
        }
    }

    package func generation() async throws(CacheError) -> Int {
        let disk = disk
        return try await readers.run { () throws(CacheError) in try disk.generation() }
    }

    package func raiseGeneration() async throws(CacheError) -> Int {
        let disk = disk
        return try await workers.run { () throws(CacheError) in try disk.raiseGeneration() }
    }

    package func remove(_ key: CacheKey) async throws(CacheError) {
        let disk = disk
        try await workers.run { () throws(CacheError) in try disk.remove(key) }
    }

    package func remove(_ selection: CacheSelection, dryRun: Bool = false) async throws(CacheError) -> CacheRemoval {
        let disk = disk
        if selection != .all { try await adopt() }
        try await workers.run { () throws(CacheError) in try disk.note() }
        if dryRun { return try await workers.run { () throws(CacheError) in try disk.count(selection) } }
        var removal = CacheRemoval()
        while true {
            let step = try await workers.run { () throws(CacheError) in try disk.removeStep(selection) }
            removal = removal + step
            if selection == .all { break }
            // If the index turned out to be damaged meanwhile, its entries are known only after they were taken in again.
            if step.entries == 0, try await !adoptedMore() { break }
        }
        if selection == .all { cleanLater() }
        return removal
    }

    package func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async throws(CacheError) {
        let maintenance = maintenance
        try await adopt()
        var last: Data? = Data()
        while let name = last {
            let page = try await workers.run { () throws(CacheError) in try maintenance.keys(after: name) }
            page.keys.forEach(visit)
            last = page.last
        }
    }

    package func statistics() async throws(CacheError) -> CacheStatistics {
        let maintenance = maintenance
        return try await workers.run { () throws(CacheError) in try maintenance.statistics() }
    }

    /// Removes what has expired, makes room where a budget is reached, and cleans up after processes that died.
    /// It works in short steps, so that neither look-ups nor stores wait for all of it.
    package func sweep() async throws(CacheError) {
        let maintenance = maintenance
        try await adopt()
        _ = try await remove(.expired)
        if try await workers.run({ () throws(CacheError) in try maintenance.isFull() }) {
            while try await workers.run({ () throws(CacheError) in try maintenance.evictStep() }) {}
        }
        try await workers.run { () throws(CacheError) in try maintenance.removeLeftovers() }
    }

    /// Reads every file and checks it, and compares the folder with the index.
    /// - Parameter repair: removes what is damaged, and makes the index agree with the files.
    package func verify(repair: Bool = false) async throws(CacheError) -> DiskVerification {
        let maintenance = maintenance
        var found = DiskVerification()
        var part: Int? = 0
        while let next = part {
            let step = try await workers.run { () throws(CacheError) in try maintenance.verify(from: next, repair: repair) }
            found = found + step.0
            part = step.next
        }
        var last: Data? = Data()
        while let name = last {
            let page = try await workers.run { () throws(CacheError) in try maintenance.verifyRows(after: name, repair: repair) }
            found.missing += page.missing
            last = page.last
        }
        found.isRepaired = repair
        return found
    }

    /// Ends the work and closes the index.
    package func close() async throws(CacheError) {
        let (disk, logger) = (disk, logger)
        try await workers.run { () throws(CacheError) in
            // What was read last is of little worth, and a folder that cannot be written must not keep the server from ending.
            do { try disk.note() } catch { logger.debug("Readings are not noted in the cache's index: \(error)") }
            try disk.access.close()
        }
        try await workers.close()
        try await readers.close()
    }

    /// Takes all files into the index that it does not know. There are some only after the index was lost, and it happens by itself in
    /// the background; figures are whole only after it.
    package func adopt() async throws(CacheError) {
        _ = try await adoptedMore()
    }

    /// - Returns: whether there was anything left to look for.
    private func adoptedMore() async throws(CacheError) -> Bool {
        let maintenance = maintenance
        var isMore = false
        while try await workers.run({ () throws(CacheError) in try maintenance.adoptStep() }) { isMore = true }
        return isMore
    }

    /// The same, in the background.
    private func adoptLater() {
        workers.runLater { [maintenance, logger, weak self] in
            do {
                if try maintenance.adoptStep() { self?.adoptLater() }
            } catch let error as CacheError where error == FolderAccess.closed {
                // The next to open the folder goes on with it.
            } catch {
                logger.warning("Files in the cache are not all in its index yet: \(error)")
            }
        }
    }

    /// Deletes what was taken out of reach, in the background: a million files take a while.
    private func cleanLater() {
        workers.runLater { [maintenance, logger] in
            do {
                try maintenance.removeLeftovers()
            } catch {
                logger.warning("Removed entries are still on the disk: \(error)")
            }
        }
    }

    private func noteLater() {
        workers.runLater { [disk, logger] in
            do {
                try disk.note()
            } catch {
                logger.warning("Readings are not noted in the cache's index: \(error)")
            }
        }
    }
}
