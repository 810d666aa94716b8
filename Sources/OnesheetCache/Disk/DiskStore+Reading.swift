internal import FoundationEssentials
internal import OnesheetCore
internal import Synchronization

extension DiskStore {
    /// The fresh entry under `key`; what is damaged is removed and counted.
    func entry(for key: CacheKey) throws(CacheError) -> CacheEntry? {
        let entry = try Self.naming("look up in") { try readChecked(key) }
        count(key) { if entry == nil { $0.misses += 1 } else { $0.hits += 1 } }
        return entry
    }

    /// The fresh entry under `key` if the page cache has all of it and nothing is to be done about it. Waits for no disk.
    /// - Parameter limit: how many bytes are read; a larger file is given open, if it was checked lately.
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

    /// Whether an entry with this header can be served as it is, with nothing to do about its file.
    private func isUsable(_ header: EntryHeader) -> Bool {
        let now = clock.now
        return ExpirationPolicy.isFresh(created: header.facts.created, end: header.end, now: now)
            && life.extended(header.end, cacheTime: header.facts.cacheTime, now: now) == nil
    }

    func contains(_ key: CacheKey) throws(CacheError) -> Bool {
        let name = key.entryName
        return try Self.naming("look up in") {
            do {
                guard let file = try EntryFile.at(layout.entry(name), named: name) else { return false }
                let header = try file.header()
                return ExpirationPolicy.isFresh(created: header.facts.created, end: header.end, now: clock.now)
            } catch is EntryDamage {
                return false
            }
        }
    }

    /// Whether enough was read since to tell the index.
    var hasMuchToNote: Bool { readings.withLock { $0.count >= DiskSettings.noting } }

    /// Tells the index what was read.
    func note() throws(CacheError) {
        let noted = readings.withLock { readings in
            defer { readings = [:] }
            return readings
        }
        guard !noted.isEmpty else { return }
        try withFolder("note in") { try $0.index.note(noted) }
    }

    private func readChecked(_ key: CacheKey) throws -> CacheEntry? {
        let name = key.entryName
        let path = layout.entry(name)
        var status: FileStatus?
        do {
            guard let file = try EntryFile.at(path, named: name) else { return nil }
            status = file.status
            var (header, entry) = try file.entry()
            let now = clock.now
            checkedFiles.note(name, file.status, header, now: now)
            guard ExpirationPolicy.isFresh(created: entry.created, end: header.end, now: now) else { return nil }
            let extended = extend(name, path, header, now: now)
            if let extended { entry.outlive(extended) }
            readings.withLock { readings in
                readings[name, default: EntryReadings()].count += 1
                if let extended { readings[name]?.extended = .some(extended) }
            }
            return entry
        } catch is EntryDamage {
            count(key) { $0.damaged += 1 }
            if let status = try status ?? FileStatus(of: path) { try removeDamaged(key, path, status.identity) }
            return nil
        }
    }

    /// Extends the entry's life as configured. Where that would change it by less than a hundredth, it stays: a write for each
    /// reading would be dear.
    private func extend(_ name: Digest128, _ path: String, _ header: EntryHeader, now: Date) -> Date?? {
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
            // On a folder that cannot be written just now the entry is served all the same, and not extended.
            return nil
        }
    }

    /// Removes what was found damaged, unless it was replaced meanwhile.
    private func removeDamaged(_ key: CacheKey, _ path: String, _ identity: FileStatus.Identity) throws {
        do {
            try withFolder("remove from") { folder in
                try folder.index.remove(key.entryName) {
                    if try FileStatus(of: path)?.identity == identity { try Files.clear(path, now: clock.now) }
                }
            }
        } catch {
            // It stays, is found damaged again, and is never served.
            count(key) { $0.evictions["damaged, not removable", default: 0] += 1 }
        }
    }
}
