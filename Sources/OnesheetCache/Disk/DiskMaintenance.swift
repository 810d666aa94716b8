internal import FoundationEssentials
internal import OnesheetCore

/// Maintenance of the whole folder, in short steps on the calling thread: cleanup, eviction, indexing of files, counting and
/// verification.
struct DiskMaintenance: Sendable {
    let store: DiskStore

    /// Deletes the trash and the files of dead sessions. What cannot be deleted stops nothing else.
    /// - Throws: the first failure.
    func removeLeftovers() throws(CacheError) {
        try store.access.use("clean") { folder in
            var failure: FileFailure?
            for folder in store.layout.removed {
                for name in try Files.names(in: folder) {
                    do throws(FileFailure) { try Files.removeTree("\(folder)/\(name)") } catch { failure = failure ?? error }
                }
            }
            let lock = try FolderLock(waitingFor: store.layout.lock)
            try FolderSession.removeDead(in: store.layout, but: folder.session)
            if failure == nil { try removeEarlierFolders() }
            withExtendedLifetime(lock) {}
            if let failure { throw failure }
            try folder.index.shrink()
        }
    }

    /// Removes the empty folders of an earlier version. While one of its processes runs, its session is in the first.
    private func removeEarlierFolders() throws(FileFailure) {
        do throws(FileFailure) {
            for folder in [store.layout.sessions, store.layout.removed].compactMap(\.last) { try Files.removeEmptyFolder(folder) }
        } catch {
            guard error.isExistence || error.isAbsence else { throw error }
        }
    }

    /// One step of eviction down to the low-water mark, for the first kind above it or for their number; `false` if there is none.
    func evictStep() throws(CacheError) -> Bool {
        try store.access.use("make room in") { folder in
            let totals = try folder.index.totals()
            for kind in CacheKind.allCases {
                guard let bytes = totals[kind]?.bytes,
                    case let excess = bytes - Int(Double(store.settings.budgets[kind]) * DiskSettings.lowWater), excess > 0
                else { continue }
                return try store.evict(kind, bytes: excess, reason: "budget", in: folder) > 0
            }
            let excess = totals.entries - max(Int(Double(store.settings.entries) * DiskSettings.lowWater), 1)
            return excess > 0 ? try store.evict(excess: excess, in: folder) > 0 : false
        }
    }

    /// Whether a kind has reached its budget, or all have their number. Eviction then makes room down to the low-water mark.
    func isFull() throws(CacheError) -> Bool {
        try store.access.use("measure") { folder in
            let totals = try folder.index.totals()
            if Double(totals.entries) > 0.98 * Double(store.settings.entries) { return true }
            return CacheKind.allCases.contains { kind in
                Double(totals[kind]?.bytes ?? 0) > 0.98 * Double(store.settings.budgets[kind])
            }
        }
    }

    /// One step of indexing files that the index does not know; `false` if all are known.
    func adoptStep() throws(CacheError) -> Bool {
        try store.access.use("take files into") { folder in
            var part = try folder.index.adopted(of: FolderLayout.partCount)
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

    /// The names in a part of the folder; none if that part cannot be read, so that the others are still processed.
    private func namesThatCanBeRead(inPart part: Int) throws(FileFailure) -> [Digest128] {
        do throws(FileFailure) {
            return try store.layout.names(inPart: part)
        } catch {
            guard error.meansDamage else { throw error }
            store.count(nil) { $0.damaged += 1 }
            return []
        }
    }

    /// The index row of an entry's file. Removes a damaged file.
    private func rowFromFile(_ name: Digest128) throws -> IndexRow? {
        let path = store.layout.entry(name)
        do {
            guard let file = try EntryFile.at(path, named: name) else { return nil }
            let header = try file.header()
            return IndexRow(
                name: name, key: header.key, entry: header.facts, length: file.status.size, stored: store.clock.now, end: header.end
            )
        } catch  where EntryFile.isDamaged(error) {
            store.count(nil) { $0.damaged += 1 }
            do {
                try Files.clear(path, now: store.clock.now)
            } catch {
                // The file stays, unknown to the index. A failure here would leave all other files unknown too.
                store.count(nil) { $0.evictions["damaged, not removable", default: 0] += 1 }
            }
            return nil
        }
    }

    /// Names and keys after `name`, and the last of these names; `nil` at the end.
    func keys(after name: Data) throws(CacheError) -> (keys: [CacheKey], last: Data?) {
        let rows = try store.access.use("list") { try $0.index.keys(after: name, limit: 1024) }
        return (rows.compactMap(\.key), rows.last?.name)
    }

    func statistics() throws(CacheError) -> CacheStatistics {
        let held = try store.access.use("count in") { try $0.index.held() }
        let counted = store.counted
        return CacheStatistics(byteLimit: store.settings.budgets.total, sources: counted.merging(held, uniquingKeysWith: +))
    }

    // MARK: Verifying

    /// Reads every file of a part of the folder: the first part from `part` on that has any.
    /// - Returns: the findings, and the part to continue with; `nil` at the end.
    func verify(from part: Int, repair: Bool) throws(CacheError) -> (DiskVerification, next: Int?) {
        var part = part
        while part < FolderLayout.partCount {
            let names = try FolderAccess.naming("verify") { try namesThatCanBeRead(inPart: part) }
            part += 1
            if !names.isEmpty { return (try verify(names, repair: repair), part) }
        }
        return (DiskVerification(), nil)
    }

    private func verify(_ names: [Digest128], repair: Bool) throws(CacheError) -> DiskVerification {
        try store.access.use("verify") { folder in
            var found = DiskVerification()
            var unknown: [Digest128] = []
            let known = try folder.index.known(names)
            for name in names {
                switch try state(of: name) {
                case nil: continue
                case .damaged(let identity):
                    found.damaged += 1
                    if repair { try remove(name, identity, in: folder) }
                case .whole(let bytes):
                    if known.contains(name) {
                        found.whole += 1
                        found.bytes += bytes
                    } else {
                        unknown.append(name)
                    }
                }
            }
            // A removal or a store may have come between. Only files that are unknown now count.
            let stillUnknown = try unknown.filter { try FileStatus(of: store.layout.entry($0)) != nil }
            found.unknown = stillUnknown.count - (try folder.index.known(stillUnknown)).count
            if repair { _ = try folder.index.adopt(stillUnknown, row: rowFromFile) }
            return found
        }
    }

    /// Looks for the files of at most a thousand index entries after `name`.
    func verifyRows(after name: Data, repair: Bool) throws(CacheError) -> (missing: Int, last: Data?) {
        try store.access.use("verify") { folder in
            let rows = try folder.index.keys(after: name, limit: 1024)
            var missing = 0
            for name in rows.compactMap({ Digest128(bytes: $0.name) }) where try FileStatus(of: store.layout.entry(name)) == nil {
                // The transaction excludes writers: the entry may be in the middle of a store.
                try folder.index.transaction { database in
                    guard try FileStatus(of: store.layout.entry(name)) == nil, try CacheIndex.knows(name, database) else { return }
                    missing += 1
                    if repair { try CacheIndex.remove([name], database) }
                }
            }
            return (missing, rows.last?.name)
        }
    }

    private enum FileState {
        case whole(Int)
        case damaged(FileStatus.Identity)
    }

    private func state(of name: Digest128) throws -> FileState? {
        let path = store.layout.entry(name)
        do {
            guard let file = try EntryFile.at(path, named: name) else { return nil }
            _ = try file.entry()
            return .whole(file.status.size)
        } catch  where EntryFile.isDamaged(error) {
            return try FileStatus(of: path).map { .damaged($0.identity) }
        }
    }

    private func remove(_ name: Digest128, _ identity: FileStatus.Identity, in folder: OpenFolder) throws {
        let path = store.layout.entry(name)
        try folder.index.remove(name) {
            if try FileStatus(of: path)?.identity == identity { try Files.clear(path, now: store.clock.now) }
        }
    }
}

extension [CacheKind: CacheRemoval] {
    /// The entries of all kinds.
    var entries: Int { values.reduce(0) { $0 + $1.entries } }
}

/// The result of checking every file of a disk tier.
package struct DiskVerification: Sendable, Equatable, Codable {
    /// Intact entries in the index.
    package var whole = 0
    package var bytes = 0
    /// Files whose bytes differ from the written ones.
    package var damaged = 0
    /// Files that the index does not know: no budget counts them and no tag removes them.
    package var unknown = 0
    /// Entries of the index without a file.
    package var missing = 0
    /// Whether the findings are repaired: damaged files removed, unknown ones added to the index, missing ones removed from it.
    package var isRepaired = false

    package init() {}

    package var isClean: Bool { damaged == 0 && unknown == 0 && missing == 0 }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.whole += right.whole
        sum.bytes += right.bytes
        sum.damaged += right.damaged
        sum.unknown += right.unknown
        sum.missing += right.missing
        return sum
    }
}
