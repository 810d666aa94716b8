internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore
internal import Synchronization

/// Stores entries on the calling thread, and makes room for them.
final class DiskWriter: Sendable {
    private let disk: DiskStore
    private let life: ExpirationPolicy
    private let admission = Mutex(Admission())

    init(_ disk: DiskStore, life: ExpirationPolicy) {
        self.disk = disk
        self.life = life
    }

    /// Stores `entry` atomically: afterwards there is either the whole entry or the previous one.
    /// - Parameters:
    ///   - generation: nothing is stored if the folder has another one; `nil` stores unconditionally.
    ///   - isOrdered: whether the entry may always evict others.
    /// - Returns: whether the generation was the same.
    func store(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int? = nil, isOrdered: Bool = false
    ) throws(CacheError) -> Bool {
        let name = key.entryName
        let now = disk.clock.now
        let end = life.end(of: entry, now: now)
        if let end, end <= now {
            try disk.remove(key)
            return true
        }
        let header = EntryHeader.bytes(of: entry, for: key, named: name, end: end)
        let length = header.readableBytes + entry.body.readableBytes
        let row = IndexRow(name: name, key: key, entry: entry, length: length, stored: now, end: end)
        guard row.bytes <= disk.settings.budgets[key.kind] / 2, header.readableBytes < EntryHeader.lengthLimit else {
            disk.count(key) { $0.evictions["too large", default: 0] += 1 }
            try disk.remove(key)
            return true
        }
        return try disk.access.use("store in") { folder in
            guard try admits(row, isOrdered: isOrdered, in: folder) else {
                disk.count(key) { $0.evictions["asked for once", default: 0] += 1 }
                return true
            }
            try makeRoom(for: row, in: folder)
            let temporary = folder.session.temporaryPath()
            let isCurrent = try removing(temporary) {
                try write(header, entry.body, to: temporary)
                return try folder.index.store(row, ifGeneration: generation) { try place(temporary, row.name) }
            }
            if isCurrent { disk.count(key) { $0.stores += 1 } }
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
        if disk.settings.isSynced { try file.sync() }
    }

    /// Moves a written file to the place for lookups.
    private func place(_ temporary: String, _ name: Digest128) throws(FileFailure) {
        let path = disk.layout.entry(name)
        let folders = disk.layout.folders(of: name)
        // A link on the path would lead out of the folder.
        var areThere = true
        for folder in folders where try FileStatus(of: folder)?.isFolder != true { areThere = false }
        if !areThere {
            // The error names a missing cache folder, so that the caller creates it again.
            guard try FileStatus(of: disk.layout.entries)?.isFolder == true else {
                throw FileFailure("find", disk.layout.entries, code: FileFailure.absence)
            }
            for folder in folders { try Files.makeOwnFolder(folder, now: disk.clock.now) }
        }
        do {
            try Files.move(temporary, to: path)
        } catch {
            guard error.isNotAFile || error.isExistence else { throw error }
            try Files.clear(path, now: disk.clock.now)
            try Files.move(temporary, to: path)
        }
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
        guard (totals[row.key.kind]?.bytes ?? 0) + row.bytes <= disk.settings.budgets[row.key.kind] else { return true }
        if try excess(with: row, in: folder) > 0 { return true }
        let lack = try lack(of: row.bytes)
        return lack > 0 && totals.values.reduce(0) { $0 + $1.bytes } >= lack
    }
}

/// Remembers recent attempts to store entries, in two bytes each. On a full disk, an entry that comes for the first time evicts no
/// others; one that comes again does. The same idea as the ghost list of S3-FIFO in memory.
///
/// A table of buckets with four slots, each first in, first out: bounded and O(1), with one false match in eight thousand.
struct Admission: Sendable {
    private static let buckets = 1 << 15
    private static let places = 4
    private var marks = [UInt16](repeating: 0, count: buckets * places)

    /// Records an attempt to store the entry called `name`.
    /// - Returns: whether there was a recent one.
    mutating func note(_ name: Digest128) -> Bool {
        // Names are the start of a SHA-256, so any of their bits serve as a hash.
        let start = Int(truncatingIfNeeded: name.low % UInt64(Self.buckets)) * Self.places
        let mark = UInt16(truncatingIfNeeded: name.high) | 1
        let bucket = start..<start + Self.places
        if marks[bucket].contains(mark) { return true }
        for place in bucket.dropFirst().reversed() { marks[place] = marks[place - 1] }
        marks[start] = mark
        return false
    }
}
