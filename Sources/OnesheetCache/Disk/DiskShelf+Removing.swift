internal import FoundationEssentials
internal import OnesheetCore

extension DiskShelf {
    func remove(_ key: CacheKey) throws(CacheError) {
        let name = key.entryName
        try withFolder("remove from") { folder in
            try folder.index.remove(name) { try Files.remove(layout.entry(name)) }
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
        let removal = try withFolder("remove from") { folder in
            try folder.index.removeStep(rows, limit: DiskSettings.step) { try Files.remove(layout.entry($0)) }
        }
        if selection == .expired { count { $0.evictions["expired", default: 0] += removal.entries } }
        return removal
    }

    /// Takes all entries out of reach at once. Their files go after.
    private func removeAll() throws(CacheError) -> CacheRemoval {
        let doomed = "\(layout.doomed)/\(UInt64.random(in: 0 ... .max))"
        let removal = try withFolder("clear") { folder in
            try folder.index.removeAll {
                try Files.makeFolder(layout.doomed)
                try Files.move(layout.entries, to: doomed)
                try Files.makeFolder(layout.entries)
            }
        }
        return removal
    }

    private func rows(_ selection: CacheSelection) -> RowSelection? {
        switch selection {
        case .all: nil
        case .expired: .ended(clock.now)
        case .tag(let tag): .tagged(tag)
        }
    }
}
