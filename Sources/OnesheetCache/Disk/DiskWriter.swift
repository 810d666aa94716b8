internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore
internal import Synchronization

/// An entry to store in the folder.
struct DiskWrite: QueuedWrite {
    let key: CacheKey
    let entry: CacheEntry
    /// The entry is not stored if the folder has another generation; `nil` stores unconditionally.
    let generation: Int?
    /// Whether the entry may always evict others.
    let isPrefetch: Bool
    /// Whether the caller waits until it is stored.
    let isAwaited: Bool
    /// Gets, once, whether the generation was the same, or the error.
    let report: @Sendable (Result<Bool, CacheError>) -> Void
}

/// Stores entries on the calling thread, and makes room for them.
final class DiskWriter: Sendable {
    private let disk: DiskStore
    private let life: ExpirationPolicy
    private let attempts = Mutex(SecondHitFilter())

    init(_ disk: DiskStore, life: ExpirationPolicy) {
        self.disk = disk
        self.life = life
    }

    /// Stores each of `items` atomically: afterwards there is either the whole entry or the previous one. All of them share two
    /// transactions, unless room must be made or one of them fails.
    /// - Returns: for each, whether the generation was the same.
    func store(_ items: [DiskWrite]) -> [Result<Bool, CacheError>] {
        var results = [Result<Bool, CacheError>](repeating: .success(true), count: items.count)
        var numbers: [Int] = []
        var prepared: [Prepared] = []
        for (number, item) in items.enumerated() {
            do throws(CacheError) {
                guard let entry = try prepare(item) else { continue }
                numbers.append(number)
                prepared.append(entry)
            } catch {
                results[number] = .failure(error)
            }
        }
        for (number, result) in zip(numbers, storeTogether(prepared)) { results[number] = result }
        return results
    }

    /// An entry with the row and the header of its file.
    private struct Prepared {
        let item: DiskWrite
        let row: IndexRow
        let header: ByteBuffer
        /// Whether there was an attempt to store it lately.
        let cameBefore: Bool
    }

    /// - Returns: `nil` if the entry is not to be stored: it has expired, or is too large.
    private func prepare(_ item: DiskWrite) throws(CacheError) -> Prepared? {
        let (entry, key) = (item.entry, item.key)
        let name = key.entryName
        let now = disk.clock.now
        let end = life.end(of: entry, now: now)
        if let end, end <= now {
            try disk.remove(key)
            return nil
        }
        let header = EntryHeader.bytes(of: entry, for: key, named: name, end: end)
        let length = header.readableBytes + entry.body.readableBytes
        let row = IndexRow(name: name, key: key, entry: entry, length: length, stored: now, end: end)
        guard row.bytes <= disk.settings.budgets[key.kind] / 2, header.readableBytes < EntryHeader.lengthLimit else {
            disk.count(key) { $0.evictions["too large", default: 0] += 1 }
            try disk.remove(key)
            return nil
        }
        return Prepared(item: item, row: row, header: header, cameBefore: attempts.withLock { $0.note(name) })
    }

    /// Stores the entries in one batch. If that fails, each is stored alone, so that one error does not concern the others.
    private func storeTogether(_ entries: [Prepared]) -> [Result<Bool, CacheError>] {
        if entries.count > 1 {
            do throws(CacheError) {
                let stored = try disk.access.use("store in") { folder in
                    try hasRoom(for: entries.map(\.row), in: folder) ? try write(entries, in: folder) : nil
                }
                if let stored { return stored.map { .success($0) } }
            } catch {
                // The entry that fails is found below.
            }
        }
        return entries.map { entry in
            Result { () throws(CacheError) in
                try disk.access.use("store in") { folder in
                    if try !hasRoom(for: [entry.row], in: folder) {
                        guard try admits(entry, in: folder) else {
                            disk.count(entry.row.key) { $0.evictions["asked for once", default: 0] += 1 }
                            return true
                        }
                        try makeRoom(for: entry.row, in: folder)
                    }
                    return try write([entry], in: folder)[0]
                }
            }
        }
    }

    /// Writes the files and rows of `entries`, for which there is room.
    /// - Returns: for each, whether the generation was the same.
    private func write(_ entries: [Prepared], in folder: OpenFolder) throws -> [Bool] {
        var temporaries: [String?] = []
        do {
            for entry in entries {
                let path = folder.session.temporaryPath()
                temporaries.append(path)
                try write(entry.header, entry.item.entry.body, to: path)
            }
            let areCurrent = try folder.index.store(entries.map { ($0.row, $0.item.generation) }) { number in
                guard let path = temporaries[number] else { return }
                try place(path, entries[number].row.name)
                temporaries[number] = nil
            }
            for path in temporaries { if let path { try Files.remove(path) } }
            for (entry, isCurrent) in zip(entries, areCurrent) where isCurrent { disk.count(entry.row.key) { $0.stores += 1 } }
            return areCurrent
        } catch {
            let failure = error
            do { for path in temporaries { if let path { try Files.remove(path) } } } catch { throw failure }
            throw failure
        }
    }

    private func write(_ header: ByteBuffer, _ body: ByteBuffer, to path: String) throws(FileFailure) {
        let file = try OpenFile(path, for: .writing)
        try file.write(header)
        try file.write(body)
        if disk.settings.isSynced { try file.sync() }
    }

    /// Moves a written file to the place for lookups.
    private func place(_ temporary: String, _ name: Digest128) throws(FileFailure) {
        let path = disk.layout.entry(name)
        // A link on the path would lead out of the folder.
        for folder in disk.layout.folders(of: name) where try FileStatus(of: folder)?.isFolder != true {
            // The error names a missing cache folder, so that the caller creates it again.
            guard try FileStatus(of: disk.layout.entries)?.isFolder == true else {
                throw FileFailure("find", disk.layout.entries, code: FileFailure.absence)
            }
            try Files.makeOwnFolder(folder, now: disk.clock.now)
        }
        do {
            try Files.move(temporary, to: path)
        } catch {
            guard error.isNotAFile || error.isExistence else { throw error }
            try Files.clear(path, now: disk.clock.now)
            try Files.move(temporary, to: path)
        }
    }

    /// Whether `rows` can be stored without an eviction: within the budgets, the number of entries, and the minimum of free space.
    private func hasRoom(for rows: [IndexRow], in folder: OpenFolder) throws -> Bool {
        var totals = try folder.index.totals()
        for row in rows {
            totals[row.key.kind] = (totals[row.key.kind] ?? CacheRemoval()) + CacheRemoval(entries: 1, bytes: row.bytes)
        }
        guard totals.allSatisfy({ $1.bytes <= disk.settings.budgets[$0] }) else { return false }
        guard totals.values.reduce(0, { $0 + $1.entries }) <= disk.settings.entries else { return false }
        return try lack(of: rows.reduce(0) { $0 + $1.bytes }) == 0
    }

    /// Makes room for a new entry in the budget of its kind and above the minimum of free space.
    private func makeRoom(for row: IndexRow, in folder: OpenFolder) throws {
        let budget = disk.settings.budgets[row.key.kind]
        while let bytes = try folder.index.totals()[row.key.kind]?.bytes, bytes + row.bytes > budget {
            let excess = bytes + row.bytes - budget
            guard try disk.evict(row.key.kind, bytes: excess + budget / 256, reason: "budget", in: folder) > 0 else { break }
        }
        while case let excess = try excess(with: row, in: folder), excess > 0 {
            guard try disk.evict(excess: excess, in: folder) > 0 else { break }
        }
        while try !leavesFloor(row.bytes, in: folder) {}
    }

    /// The entries to evict so that there are not too many with `row`.
    private func excess(with row: IndexRow, in folder: OpenFolder) throws -> Int {
        let limit = disk.settings.entries
        guard limit < .max else { return 0 }
        let count = try folder.index.totals().entries
        guard count >= limit else { return 0 }
        return count - limit + (try folder.index.contains(row.name) ? 0 : 1)
    }

    /// The bytes to free so that `bytes` can be stored above the minimum of free space; 0 if there is no minimum.
    private func lack(of bytes: Int) throws -> Int {
        let space = try Files.space(at: disk.layout.path)
        let floor = disk.settings.minimumFreeSpace.size(on: space.all)
        return floor > 0 ? max(floor + bytes - space.free, 0) : 0
    }

    /// Whether storing `bytes` leaves the minimum of free space. If not, makes one step towards it.
    private func leavesFloor(_ bytes: Int, in folder: OpenFolder) throws -> Bool {
        let lack = try lack(of: bytes)
        guard lack > 0 else { return true }
        var freed = 0
        // If evicting everything would not suffice, evicts nothing.
        if try folder.index.totals().values.reduce(0, { $0 + $1.bytes }) >= lack {
            for kind in CacheKind.allCases { freed += try disk.evict(kind, bytes: lack, reason: "free space", in: folder) }
        }
        guard freed > 0 else {
            let space = try Files.space(at: disk.layout.path)
            let floor = disk.settings.minimumFreeSpace.size(on: space.all)
            throw CacheError.fileSystem(
                operation: "store in", path: disk.layout.path,
                reason: "\(space.free) bytes are free, and at least \(floor) must stay free (cache.disk.free)")
        }
        return false
    }

    /// Whether to store `entry` although others may be evicted: only if it came before or is ordered (`isPrefetch`: a prefetch), or
    /// replaces an older one. Metadata is always stored, because it is small and costs calls of a service.
    private func admits(_ entry: Prepared, in folder: OpenFolder) throws -> Bool {
        if entry.cameBefore || entry.item.isPrefetch || entry.row.key.kind == .metadata { return true }
        guard try evictsOthers(entry.row, in: folder) else { return true }
        return try folder.index.contains(entry.row.name)
    }

    /// Whether `row` would evict other entries. If other files fill the disk, it would not: that is an error to report.
    private func evictsOthers(_ row: IndexRow, in folder: OpenFolder) throws -> Bool {
        let totals = try folder.index.totals()
        guard (totals[row.key.kind]?.bytes ?? 0) + row.bytes <= disk.settings.budgets[row.key.kind] else { return true }
        if try excess(with: row, in: folder) > 0 { return true }
        let lack = try lack(of: row.bytes)
        return lack > 0 && totals.values.reduce(0) { $0 + $1.bytes } >= lack
    }
}
