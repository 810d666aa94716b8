internal import FoundationEssentials
internal import GRDB
internal import OnesheetCore
internal import Synchronization

/// A folder with entries, its limits and its counters. Removes entries, on the calling thread. `DiskReader` and `DiskWriter` look
/// up and store.
///
/// Stores, removals and evictions go through the index one at a time, across all processes.
final class DiskStore: Sendable {
    let layout: FolderLayout
    let settings: DiskSettings
    let clock: WallClock
    let access: FolderAccess
    private let counts = Mutex(SourceCounts())
    private let cleared = Atomic(0)

    init(_ settings: DiskSettings, access: FolderAccess, clock: WallClock) {
        self.settings = settings
        self.access = access
        self.clock = clock
        layout = access.layout
    }

    /// How often all entries were removed. A file that was opened before is removed, although its own status does not show it.
    var clearings: Int { cleared.load(ordering: .acquiring) }

    /// Counts an event for the entry under `key`; `nil` if the key is unknown.
    func count(_ key: CacheKey?, _ change: (inout CacheFigures) -> Void) { counts.withLock { change(&$0[key]) } }

    /// Counters since the start, by the names of the sources.
    var counted: [String: CacheFigures] { counts.withLock { $0.named } }

    func remove(_ key: CacheKey) throws(CacheError) {
        let name = key.entryName
        try access.use("remove from") { folder in
            try folder.index.remove(name) { try Files.clear(layout.entry(name), now: clock.now) }
        }
    }

    /// Removes the entries under `keys`, each even if another cannot be removed.
    func remove(_ keys: [CacheKey]) throws(CacheError) {
        var failure: CacheError?
        for key in keys {
            do throws(CacheError) { try remove(key) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// The entries and bytes that a removal would remove.
    func count(_ selection: CacheSelection) throws(CacheError) -> CacheRemoval {
        let rows = rows(selection)
        return try access.use("count in") { folder in
            try rows.map { try folder.index.count($0) } ?? folder.index.totals().values.reduce(CacheRemoval(), +)
        }
    }

    /// One removal step. The removal is complete when a step removes nothing.
    func removeStep(_ selection: CacheSelection) throws(CacheError) -> CacheRemoval {
        guard let rows = rows(selection) else { return try removeAll() }
        return try access.use("remove from") { try removeStep(rows, reason: selection == .expired ? "expired" : nil, in: $0) }
    }

    /// One step of removing the entries that match `rows`, until `bytes` are freed or `entries` are removed.
    /// - Parameter reason: the reason for an eviction; `nil` for a requested removal.
    func removeStep(
        _ rows: RowSelection, bytes: Int = .max, entries: Int = .max, reason: String?, in folder: OpenFolder
    ) throws -> CacheRemoval {
        let removed = try folder.index.removeStep(rows, limit: min(entries, DiskSettings.step), bytes: bytes) {
            try Files.clear(layout.entry($0), now: clock.now)
        }
        if let reason { for row in removed { count(row.key) { $0.evictions[reason, default: 0] += 1 } } }
        return removed.reduce(CacheRemoval()) { $0 + CacheRemoval(entries: 1, bytes: $1.bytes) }
    }

    /// One step of evicting the entries with the lowest rank, until `bytes` are freed. Returns the number of evicted entries.
    func evict(_ kind: CacheKind, bytes: Int = .max, reason: String, in folder: OpenFolder) throws -> Int {
        try removeStep(.leastWorth(kind), bytes: bytes, reason: reason, in: folder).entries
    }

    /// One step of evicting `excess` entries: those with the lowest rank of the kind that has the most.
    /// - Returns: the number of evicted entries.
    func evict(excess: Int, in folder: OpenFolder) throws -> Int {
        let totals = try folder.index.totals()
        guard let kind = CacheKind.allCases.max(by: { (totals[$0]?.entries ?? 0) < (totals[$1]?.entries ?? 0) }) else { return 0 }
        return try removeStep(.leastWorth(kind), entries: excess, reason: "count", in: folder).entries
    }

    func generation() throws(CacheError) -> Int { try access.use("look for purges in") { try $0.index.generation() } }

    func raiseGeneration() throws(CacheError) -> Int { try access.use("note a purge in") { try $0.index.raiseGeneration() } }

    /// Makes all entries unreachable at once. Their files are deleted later.
    private func removeAll() throws(CacheError) -> CacheRemoval {
        try access.use("clear") { folder in
            let totals = try folder.index.totals().values.reduce(CacheRemoval(), +)
            // Even if the index knows no entries: there may be files that it does not know yet.
            let trash = "\(layout.trash)/\(UInt64.random(in: 0 ... .max))"
            do {
                try folder.index.removeAll {
                    try Files.move(layout.entries, to: trash)
                    cleared.add(1, ordering: .releasing)
                    try Files.makeFolder(layout.entries)
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
                // The files are unreachable, and their removal gives the index room. If that fails, the index keeps rows without
                // files, which the next evictions remove.
                try Files.removeTree(trash)
                if totals.entries > 0 {
                    do { try folder.index.removeAll {} } catch {
                        count(nil) { $0.evictions["rows kept on a full disk", default: 0] += 1 }
                    }
                }
            }
            return totals
        }
    }

    private func rows(_ selection: CacheSelection) -> RowSelection? {
        switch selection {
        case .all: nil
        case .expired: .ended(clock.now)
        case .tag(let tag): .tagged(tag)
        }
    }
}
