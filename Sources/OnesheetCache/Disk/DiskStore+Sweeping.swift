internal import FoundationEssentials
internal import OnesheetCore
internal import Synchronization

extension DiskStore {
    /// Removes what was taken out of reach, and what dead sessions left.
    func removeLeftovers() throws(CacheError) {
        try withFolder("clean") { folder in
            for folder in layout.removed {
                for name in try Files.names(in: folder) { try Files.removeTree("\(folder)/\(name)") }
            }
            let lock = try FolderLock(waitingFor: layout.lock)
            try FolderSession.removeDead(in: layout, but: folder.session)
            withExtendedLifetime(lock) {}
        }
    }

    /// One step of making room down to the low water, for the first kind that is over its high water; `false` when none is.
    func evictStep() throws(CacheError) -> Bool {
        try withFolder("make room in") { folder in
            let totals = try folder.index.totals()
            for kind in CacheKind.allCases {
                guard let bytes = totals[kind]?.bytes,
                    case let excess = bytes - Int(Double(settings.budgets[kind]) * DiskSettings.lowWater), excess > 0
                else { continue }
                return try evict(kind, bytes: excess, reason: "budget", in: folder) > 0
            }
            return false
        }
    }

    /// Whether a kind has reached its budget, so that it is time to make room down to the low water.
    func isFull() throws(CacheError) -> Bool {
        try withFolder("measure") { folder in
            let totals = try folder.index.totals()
            return CacheKind.allCases.contains { kind in
                Double(totals[kind]?.bytes ?? 0) > 0.98 * Double(settings.budgets[kind])
            }
        }
    }

    /// One step of taking files into the index that it does not know; `false` when all are known.
    func adoptStep() throws(CacheError) -> Bool {
        try withFolder("take files into") { folder in
            var part = try folder.index.adopted()
            guard part < FolderLayout.partCount else { return false }
            let end = min(part + 64, FolderLayout.partCount)
            while part < end {
                let names = try namesThatCanBeRead(inPart: part)
                part += 1
                guard !names.isEmpty else { continue }
                for start in stride(from: 0, to: names.count, by: DiskSettings.step) {
                    _ = try folder.index.adopt(Array(names[start..<min(start + DiskSettings.step, names.count)]), row: rowFromFile)
                }
                break
            }
            try folder.index.set("\(part)", for: "adopted")
            return true
        }
    }

    /// The names in a part of the folder; none where that part alone cannot be read, so that it keeps no other from being known.
    func namesThatCanBeRead(inPart part: Int) throws(FileFailure) -> [Digest128] {
        do throws(FileFailure) {
            return try layout.names(inPart: part)
        } catch {
            guard error.meansDamage else { throw error }
            count(nil) { $0.damaged += 1 }
            return []
        }
    }

    /// What the file of an entry says about it. A file that is damaged is removed.
    func rowFromFile(_ name: Digest128) throws -> IndexRow? {
        let path = layout.entry(name)
        do {
            guard let file = try EntryFile.at(path, named: name) else { return nil }
            let header = try file.header()
            return IndexRow(
                name: name, key: header.key, entry: header.facts, length: file.status.size, stored: clock.now, end: header.end)
        } catch  where EntryFile.isDamaged(error) {
            count(nil) { $0.damaged += 1 }
            do {
                try Files.clear(path, now: clock.now)
            } catch {
                // It stays, unknown to the index; to give up here would keep all others unknown too.
                count(nil) { $0.evictions["damaged, not removable", default: 0] += 1 }
            }
            return nil
        }
    }
}

extension DiskStore {
    /// Names and keys after `name`, and the last of these names; `nil` at the end.
    func keys(after name: Data) throws(CacheError) -> (keys: [CacheKey], last: Data?) {
        let rows = try withFolder("list") { try $0.index.keys(after: name, limit: 1024) }
        return (rows.compactMap(\.key), rows.last?.name)
    }

    func statistics() throws(CacheError) -> CacheStatistics {
        let held = try withFolder("count in") { try $0.index.held() }
        let counted = counts.withLock { $0.named }
        return CacheStatistics(byteLimit: settings.budgets.total, sources: counted.merging(held, uniquingKeysWith: +))
    }
}
