internal import FoundationEssentials
internal import GRDB
internal import OnesheetCore

extension DiskStore {
    func remove(_ key: CacheKey) throws(CacheError) {
        let name = key.entryName
        try withFolder("remove from") { folder in
            try folder.index.remove(name) { try Files.clear(layout.entry(name), now: clock.now) }
        }
    }

    /// What removing would remove.
    func count(_ selection: CacheSelection) throws(CacheError) -> CacheRemoval {
        let rows = rows(selection)
        return try withFolder("count in") { folder in
            try rows.map { try folder.index.count($0) } ?? folder.index.totals().values.reduce(CacheRemoval(), +)
        }
    }

    /// One step of removing; the removal is complete when a step removes nothing.
    func removeStep(_ selection: CacheSelection) throws(CacheError) -> CacheRemoval {
        guard let rows = rows(selection) else { return try removeAll() }
        return try withFolder("remove from") { try removeStep(rows, reason: selection == .expired ? "expired" : nil, in: $0) }
    }

    /// One step of removing what `rows` takes, until `bytes` are freed.
    /// - Parameter reason: why the tier removes it by itself; `nil` where it was told to.
    func removeStep(_ rows: RowSelection, bytes: Int = .max, reason: String?, in folder: OpenFolder) throws -> CacheRemoval {
        let removed = try folder.index.removeStep(rows, limit: DiskSettings.step, bytes: bytes) {
            try Files.clear(layout.entry($0), now: clock.now)
        }
        if let reason { for row in removed { count(row.key) { $0.evictions[reason, default: 0] += 1 } } }
        return removed.reduce(CacheRemoval()) { $0 + CacheRemoval(entries: 1, bytes: $1.bytes) }
    }

    func generation() throws(CacheError) -> Int { try withFolder("look for purges in") { try $0.index.generation() } }

    func raiseGeneration() throws(CacheError) -> Int { try withFolder("note a purge in") { try $0.index.raiseGeneration() } }

    /// Takes all entries out of reach at once. Their files go after.
    private func removeAll() throws(CacheError) -> CacheRemoval {
        try withFolder("clear") { folder in
            let totals = try folder.index.totals().values.reduce(CacheRemoval(), +)
            // Even when the index knows of none: there may be files that it does not know yet.
            let trash = "\(layout.trash)/\(UInt64.random(in: 0 ... .max))"
            do {
                try folder.index.removeAll {
                    try Files.move(layout.entries, to: trash)
                    try Files.makeFolder(layout.entries)
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
                // The files are out of reach, and removing them gives the index its room. Should it not, the rows that it keeps are
                // ones without files, which the next evictions take.
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
