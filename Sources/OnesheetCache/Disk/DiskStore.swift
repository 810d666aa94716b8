internal import FoundationEssentials
internal import GRDB
internal import Logging
internal import NIOCore
internal import OnesheetCore
internal import Synchronization

/// The operations of `DiskTier`, on the calling thread.
///
/// A lookup opens only the file that the key names. Its cost does not depend on the number of entries. Stores, removals and
/// evictions go through the index one at a time, across all processes.
final class DiskStore: Sendable {
    let layout: FolderLayout
    let settings: DiskSettings
    let clock: WallClock
    let access: FolderAccess
    private let life: ExpirationPolicy
    private let counts = Mutex(SourceCounts())
    private let checkedFiles = CheckedFiles()
    private let readings = Mutex<[Digest128: EntryReadings]>([:])
    private let admission = Mutex(Admission())

    init(_ settings: DiskSettings, access: FolderAccess, life: ExpirationPolicy, clock: WallClock) {
        self.settings = settings
        self.access = access
        self.life = life
        self.clock = clock
        layout = access.layout
    }

    /// Counts an event for the entry under `key`; `nil` if the key is unknown.
    func count(_ key: CacheKey?, _ change: (inout CacheFigures) -> Void) { counts.withLock { change(&$0[key]) } }

    /// Counters since the start, by the names of the sources.
    var counted: [String: CacheFigures] { counts.withLock { $0.named } }

    // MARK: Reading

    /// The fresh entry under `key`. Removes and counts a damaged one.
    /// - Parameter memory: admits the bytes before they are read. If it refuses, the result is `nil` although the entry exists.
    func entry(for key: CacheKey, counting memory: ReadingMemory? = nil) throws(CacheError) -> CacheEntry? {
        let entry = try FolderAccess.naming("look up in") { try readChecked(key, counting: memory) }
        if memory?.isRefused == true { return nil }
        count(key) { if entry == nil { $0.misses += 1 } else { $0.hits += 1 } }
        return entry
    }

    /// The fresh entry under `key` if the page cache holds all of it and its file needs no work. Never waits for a disk.
    /// - Parameter limit: the largest file to read, in bytes. A larger one is returned open if it was checked lately.
    func residentEntry(for key: CacheKey, reading limit: Int) -> ReadyEntry? {
        let name = key.entryName
        let noteHit = { @Sendable in
            self.readings.withLock { $0[name, default: EntryReadings()].count += 1 }
            self.count(key) { $0.hits += 1 }
        }
        let ready = EntryFile.resident(
            layout.entry(name), named: name, reading: limit, checked: checkedFiles, now: clock.now, where: isUsable, reuse: noteHit)
        if ready != nil { noteHit() }
        return ready
    }

    /// Whether an entry with this header can be served without any work on its file.
    private func isUsable(_ header: EntryHeader) -> Bool {
        let now = clock.now
        return ExpirationPolicy.isFresh(created: header.facts.created, end: header.end, now: now)
            && life.extended(header.end, cacheTime: header.facts.cacheTime, now: now) == nil
    }

    func contains(_ key: CacheKey) throws(CacheError) -> Bool {
        let name = key.entryName
        return try FolderAccess.naming("look up in") {
            do {
                guard let file = try EntryFile.at(layout.entry(name), named: name) else { return false }
                let header = try file.header()
                return ExpirationPolicy.isFresh(created: header.facts.created, end: header.end, now: clock.now)
            } catch is EntryDamage {
                return false
            }
        }
    }

    /// Whether enough reads have accumulated to record them in the index.
    var hasMuchToNote: Bool { readings.withLock { $0.count >= DiskSettings.noting } }

    /// Records the accumulated reads in the index.
    func note() throws(CacheError) {
        let noted = readings.withLock { readings in
            defer { readings = [:] }
            return readings
        }
        guard !noted.isEmpty else { return }
        try access.use("note in") { try $0.index.note(noted) }
    }

    private func readChecked(_ key: CacheKey, counting memory: ReadingMemory?) throws -> CacheEntry? {
        let name = key.entryName
        let path = layout.entry(name)
        var status: FileStatus?
        do {
            guard let file = try EntryFile.at(path, named: name), memory?.admit(file.status.size) ?? true else { return nil }
            status = file.status
            var (header, entry) = try file.entry()
            let now = clock.now
            checkedFiles.note(name, status: file.status, header: header, now: now)
            guard ExpirationPolicy.isFresh(created: entry.created, end: header.end, now: now) else { return nil }
            let extended = extend(name, at: path, header, now: now)
            if let extended { entry.outlive(extended) }
            readings.withLock { readings in
                readings[name, default: EntryReadings()].count += 1
                if let extended { readings[name]?.extended = .some(extended) }
            }
            return entry
        } catch is EntryDamage {
            count(key) { $0.damaged += 1 }
            if let status = try status ?? FileStatus(of: path) { try removeDamaged(key, at: path, status.identity) }
            return nil
        }
    }

    /// Extends the lifetime of the entry as configured. Skips changes of less than a hundredth, to avoid a write for each read.
    private func extend(_ name: Digest128, at path: String, _ header: EntryHeader, now: Date) -> Date?? {
        guard let wanted = life.extended(header.end, cacheTime: header.facts.cacheTime, now: now), wanted != header.end else {
            return nil
        }
        if let wanted, let end = header.end {
            guard abs(wanted.timeIntervalSince(end)) > 0.01 * abs(wanted.timeIntervalSince(now)) else { return nil }
        }
        do {
            try EntryFile.extend(path, named: name, to: wanted)
            return .some(wanted)
        } catch {
            // If the folder cannot be written at present, the entry is served without an extension.
            return nil
        }
    }

    /// Removes a damaged entry, unless it was replaced meanwhile.
    private func removeDamaged(_ key: CacheKey, at path: String, _ identity: FileStatus.Identity) throws {
        do {
            try access.use("remove from") { folder in
                try folder.index.remove(key.entryName) {
                    if try FileStatus(of: path)?.identity == identity { try Files.clear(path, now: clock.now) }
                }
            }
        } catch {
            // The file stays, is found damaged again, and is never served.
            count(key) { $0.evictions["damaged, not removable", default: 0] += 1 }
        }
    }

    // MARK: Storing

    /// Stores `entry` atomically: afterwards there is either the whole entry or the previous one.
    /// - Parameters:
    ///   - generation: nothing is stored if the folder has another one; `nil` stores unconditionally.
    ///   - isOrdered: whether the entry may always evict others.
    /// - Returns: whether the generation was the same.
    func store(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int? = nil, isOrdered: Bool = false
    ) throws(CacheError) -> Bool {
        let name = key.entryName
        let now = clock.now
        let end = life.end(of: entry, now: now)
        if let end, end <= now {
            try remove(key)
            return true
        }
        let header = EntryHeader.bytes(of: entry, for: key, named: name, end: end)
        let length = header.readableBytes + entry.body.readableBytes
        let row = IndexRow(name: name, key: key, entry: entry, length: length, stored: now, end: end)
        guard row.bytes <= settings.budgets[key.kind] / 2, header.readableBytes < EntryHeader.lengthLimit else {
            count(key) { $0.evictions["too large", default: 0] += 1 }
            try remove(key)
            return true
        }
        return try access.use("store in") { folder in
            guard try admits(row, isOrdered: isOrdered, in: folder) else {
                count(key) { $0.evictions["asked for once", default: 0] += 1 }
                return true
            }
            try makeRoom(for: row, in: folder)
            let temporary = folder.session.temporaryPath()
            let isCurrent = try removing(temporary) {
                try write(header, entry.body, to: temporary)
                return try folder.index.store(row, ifGeneration: generation) { try place(temporary, row.name) }
            }
            if isCurrent { count(key) { $0.stores += 1 } }
            return isCurrent
        }
    }

    /// Runs `body` and removes the file at `temporary` if it is still there. A stored file has been moved.
    private func removing<Answer>(_ temporary: String, after body: () throws -> Answer) throws -> Answer {
        do {
            let answer = try body()
            try Files.remove(temporary)
            return answer
        } catch {
            let failure = error
            do { try Files.remove(temporary) } catch { throw failure }
            throw failure
        }
    }

    private func write(_ header: ByteBuffer, _ body: ByteBuffer, to path: String) throws(FileFailure) {
        let file = try OpenFile(path, for: .writing)
        try file.write(header)
        try file.write(body)
        if settings.isSynced { try file.sync() }
    }

    /// Moves a written file to the place for lookups.
    private func place(_ temporary: String, _ name: Digest128) throws(FileFailure) {
        let path = layout.entry(name)
        let folders = layout.folders(of: name)
        // A link on the path would lead out of the folder.
        var areThere = true
        for folder in folders where try FileStatus(of: folder)?.isFolder != true { areThere = false }
        if !areThere {
            // A missing cache folder is reported as such, so that it is made again.
            guard try FileStatus(of: layout.entries)?.isFolder == true else {
                throw FileFailure("find", layout.entries, code: FileFailure.absence)
            }
            for folder in folders { try Files.makeOwnFolder(folder, now: clock.now) }
        }
        do {
            try Files.move(temporary, to: path)
        } catch {
            guard error.isNotAFile || error.isExistence else { throw error }
            try Files.clear(path, now: clock.now)
            try Files.move(temporary, to: path)
        }
    }

    /// Makes room for a new entry in the budget of its kind and above the minimum of free space.
    private func makeRoom(for row: IndexRow, in folder: OpenFolder) throws {
        let budget = settings.budgets[row.key.kind]
        while let bytes = try folder.index.totals()[row.key.kind]?.bytes, bytes + row.bytes > budget {
            let excess = bytes + row.bytes - budget
            guard try evict(row.key.kind, bytes: excess + budget / 256, reason: "budget", in: folder) > 0 else { break }
        }
        while try !leavesFloor(row.bytes, in: folder) {}
    }

    /// The bytes to free so that `bytes` can be stored above the minimum of free space; 0 if there is no minimum.
    private func lack(of bytes: Int) throws -> Int {
        let space = try Files.space(at: layout.path)
        let floor = settings.minimumFreeSpace.size(on: space.all)
        return floor > 0 ? max(floor + bytes - space.free, 0) : 0
    }

    /// Whether storing `bytes` leaves the minimum of free space. If not, makes one step towards it.
    private func leavesFloor(_ bytes: Int, in folder: OpenFolder) throws -> Bool {
        let lack = try lack(of: bytes)
        guard lack > 0 else { return true }
        var freed = 0
        // If evicting everything would not suffice, evicts nothing.
        if try folder.index.totals().values.reduce(0, { $0 + $1.bytes }) >= lack {
            for kind in CacheKind.allCases { freed += try evict(kind, bytes: lack, reason: "free space", in: folder) }
        }
        guard freed > 0 else {
            let space = try Files.space(at: layout.path)
            let floor = settings.minimumFreeSpace.size(on: space.all)
            throw CacheError.fileSystem(
                operation: "store in", path: layout.path,
                reason: "\(space.free) bytes are free, and at least \(floor) must stay free (cache.disk.free)")
        }
        return false
    }

    /// One step of evicting the entries with the lowest rank, until `bytes` are freed. Returns the number of evicted entries.
    func evict(_ kind: CacheKind, bytes: Int = .max, reason: String, in folder: OpenFolder) throws -> Int {
        try removeStep(.leastWorth(kind), bytes: bytes, reason: reason, in: folder).entries
    }

    /// Whether to store `row`: always while there is room for it. If others would be evicted, only if it came before or is ordered
    /// (`isOrdered`: a prefetch). Metadata is always stored, because it is small and costs calls of a service.
    private func admits(_ row: IndexRow, isOrdered: Bool, in folder: OpenFolder) throws -> Bool {
        let cameBefore = admission.withLock { $0.note(row.name) }
        if cameBefore || isOrdered || row.key.kind == .metadata { return true }
        guard try evictsOthers(row, in: folder) else { return true }
        // A replacement is not a newcomer.
        return try folder.index.contains(row.name)
    }

    /// Whether `row` would evict other entries. If other files fill the disk, it would not: that is an error to report.
    private func evictsOthers(_ row: IndexRow, in folder: OpenFolder) throws -> Bool {
        let totals = try folder.index.totals()
        guard (totals[row.key.kind]?.bytes ?? 0) + row.bytes <= settings.budgets[row.key.kind] else { return true }
        let lack = try lack(of: row.bytes)
        return lack > 0 && totals.values.reduce(0) { $0 + $1.bytes } >= lack
    }

    // MARK: Removing

    func remove(_ key: CacheKey) throws(CacheError) {
        let name = key.entryName
        try access.use("remove from") { folder in
            try folder.index.remove(name) { try Files.clear(layout.entry(name), now: clock.now) }
        }
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

    /// One step of removing the entries that match `rows`, until `bytes` are freed.
    /// - Parameter reason: the reason for an eviction; `nil` for a requested removal.
    func removeStep(_ rows: RowSelection, bytes: Int = .max, reason: String?, in folder: OpenFolder) throws -> CacheRemoval {
        let removed = try folder.index.removeStep(rows, limit: DiskSettings.step, bytes: bytes) {
            try Files.clear(layout.entry($0), now: clock.now)
        }
        if let reason { for row in removed { count(row.key) { $0.evictions[reason, default: 0] += 1 } } }
        return removed.reduce(CacheRemoval()) { $0 + CacheRemoval(entries: 1, bytes: $1.bytes) }
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
