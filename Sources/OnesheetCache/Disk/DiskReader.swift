internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore
internal import Synchronization

/// Looks up entries on the calling thread.
///
/// A lookup opens only the file that the key names. Its cost does not depend on the number of entries.
final class DiskReader: Sendable {
    private let disk: DiskStore
    private let life: ExpirationPolicy
    private let checkedFiles = CheckedFiles()
    private let readings = Mutex<[Digest128: EntryReadings]>([:])
    /// Bytes of bodies that waiting lookups have brought into memory since the start.
    let bytesRead = Atomic(0)

    init(_ disk: DiskStore, life: ExpirationPolicy) {
        self.disk = disk
        self.life = life
    }

    /// The entry under `key`, unless it has expired. Removes and counts a damaged one.
    /// - Parameter memory: admits the bytes before they are read. If it refuses, the result is `nil` although the entry exists.
    func entry(for key: CacheKey, counting memory: ReadingMemory? = nil) throws(CacheError) -> CacheEntry? {
        let entry = try FolderAccess.naming("look up in") { try readChecked(key, counting: memory) }
        if memory?.isRefused == true { return nil }
        disk.count(key) { if entry == nil { $0.misses += 1 } else { $0.hits += 1 } }
        return entry
    }

    /// The entry under `key`, unless it has expired, if the page cache holds all of it and its file needs no work. Never waits for a
    /// disk. Counts a miss if the system knows that there is no file.
    /// - Parameter limit: the largest file to read, in bytes. A larger one is returned open if it was checked lately.
    func residentEntry(for key: CacheKey, reading limit: Int) -> ReadyLookUp {
        let name = key.entryName
        let noteHit = { @Sendable in
            self.readings.withLock { $0[name, default: EntryReadings()].count += 1 }
            self.disk.count(key) { $0.hits += 1 }
        }
        // Before the file is opened.
        let clearings = disk.clearings
        let found = EntryFile.resident(
            disk.layout.entry(name), named: name, reading: limit, checked: checkedFiles, now: disk.clock.now,
            where: { self.disk.clearings == clearings && self.isUsable($0) }, reuse: noteHit)
        switch found {
        case .ready: noteHit()
        case .absent: disk.count(key) { $0.misses += 1 }
        case .unknown: break
        }
        return found
    }

    /// Whether an entry with this header can be served without any work on its file.
    private func isUsable(_ header: EntryHeader) -> Bool {
        let now = disk.clock.now
        return ExpirationPolicy.isAlive(created: header.facts.created, end: header.end, now: now)
            && newEnd(of: header, now: now) == nil
    }

    /// The end of the entry's lifetime after a read, if it is another than now. Skips changes of less than a hundredth, to avoid a write for
    /// each read.
    private func newEnd(of header: EntryHeader, now: Date) -> Date?? {
        guard let wanted = life.extended(header.end, cacheTime: header.facts.cacheTime, now: now), wanted != header.end else {
            return nil
        }
        if let wanted, let end = header.end {
            guard abs(wanted.timeIntervalSince(end)) > 0.01 * abs(wanted.timeIntervalSince(now)) else { return nil }
        }
        return .some(wanted)
    }

    func contains(_ key: CacheKey) throws(CacheError) -> Bool { try header(of: key) != nil }

    /// The header of the entry under `key`, unless it has expired or its header is damaged. Reads nothing else.
    func header(of key: CacheKey) throws(CacheError) -> EntryHeader? {
        let name = key.entryName
        return try FolderAccess.naming("look up in") {
            do {
                guard let file = try EntryFile.at(disk.layout.entry(name), named: name) else { return nil }
                let header = try file.header()
                let isAlive = ExpirationPolicy.isAlive(created: header.facts.created, end: header.end, now: disk.clock.now)
                return isAlive ? header : nil
            } catch is EntryDamage {
                return nil
            }
        }
    }

    /// Parts of the body of the entry under `key`, in order. Reads nothing else of a file that was checked lately.
    /// - Parameters:
    ///   - validator: that of the entry that the caller means.
    ///   - memory: admits the bytes before they are read.
    /// - Returns: `nil` if the entry is gone, replaced or damaged, or memory refuses.
    func parts(
        _ ranges: [Range<Int>], of key: CacheKey, validator: String, counting memory: ReadingMemory
    ) throws(CacheError) -> [ByteBuffer]? {
        try FolderAccess.naming("look up in") {
            try withoutDamage(key) { file in
                let name = key.entryName
                let now = disk.clock.now
                let known = checkedFiles.header(of: name, file.status, now: now)
                let header = try known ?? file.header()
                guard ExpirationPolicy.isAlive(created: header.facts.created, end: header.end, now: now),
                    header.facts.validator == validator, ranges.allSatisfy({ (0...header.bodyLength).contains($0.upperBound) }),
                    memory.admit(ranges.reduce(0) { $0 + $1.count })
                else { return nil }
                if known == nil {
                    try file.checkBody(header)
                    checkedFiles.note(name, status: file.status, header: header, now: now)
                }
                let parts = try ranges.map { try file.body($0, header) }
                bytesRead.add(parts.reduce(0) { $0 + $1.readableBytes }, ordering: .relaxed)
                let extended = extend(name, at: disk.layout.entry(name), header, now: now)
                note(name, extended: extended)
                disk.count(key) { $0.hits += 1 }
                return parts
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
        try disk.access.use("note in") { try $0.index.note(noted) }
    }

    private func readChecked(_ key: CacheKey, counting memory: ReadingMemory?) throws -> CacheEntry? {
        try withoutDamage(key) { file in
            guard memory?.admit(file.status.size) ?? true else { return nil }
            let name = key.entryName
            var (header, entry) = try file.entry()
            bytesRead.add(entry.body.readableBytes, ordering: .relaxed)
            let now = disk.clock.now
            checkedFiles.note(name, status: file.status, header: header, now: now)
            guard ExpirationPolicy.isAlive(created: entry.created, end: header.end, now: now) else { return nil }
            let extended = extend(name, at: disk.layout.entry(name), header, now: now)
            if let extended { entry.outlive(extended) }
            note(name, extended: extended)
            return entry
        }
    }

    private func note(_ name: Digest128, extended: Date??) {
        readings.withLock { readings in
            readings[name, default: EntryReadings()].count += 1
            if let extended { readings[name]?.extended = .some(extended) }
        }
    }

    /// The result of `read` for the file of `key`; `nil` if there is none, or it is damaged. Removes and counts a damaged one.
    private func withoutDamage<Value>(_ key: CacheKey, _ read: (borrowing EntryFile) throws -> Value?) throws -> Value? {
        let path = disk.layout.entry(key.entryName)
        var status: FileStatus?
        do {
            guard let file = try EntryFile.at(path, named: key.entryName) else { return nil }
            status = file.status
            return try read(file)
        } catch is EntryDamage {
            disk.count(key) { $0.damaged += 1 }
            if let status = try status ?? FileStatus(of: path) { try removeDamaged(key, at: path, status.identity) }
            return nil
        }
    }

    /// Extends the lifetime of the entry as configured.
    private func extend(_ name: Digest128, at path: String, _ header: EntryHeader, now: Date) -> Date?? {
        guard let wanted = newEnd(of: header, now: now) else { return nil }
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
            try disk.access.use("remove from") { folder in
                try folder.index.remove(key.entryName) {
                    if try FileStatus(of: path)?.identity == identity { try Files.clear(path, now: disk.clock.now) }
                }
            }
        } catch {
            // The file stays, is found damaged again, and is never served.
            disk.count(key) { $0.evictions["damaged, not removable", default: 0] += 1 }
        }
    }
}
