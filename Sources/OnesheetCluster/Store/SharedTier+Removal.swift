import FoundationEssentials
import NIOCore
import OnesheetCache
package import OnesheetCore
import Synchronization

/// Removal, lists and verification: work of the administration, which takes as long as the store has objects. Entries of a title or a
/// source are found by their names; other tags by their markers; the expired only by reading every entry.
extension SharedTier {
    package func remove(_ key: CacheKey) async throws(CacheError) {
        await queue.cancel(key)
        try await delete([names.name(of: key)])
    }

    /// Drops what waits to be written, and removes what is being written, unless the tier knows the purges of other processes.
    package func dropQueued() async throws(CacheError) {
        guard purges == nil else { return }
        let (dropped, underWay) = queue.dropAll()
        if !dropped.isEmpty { calls.count { $0.dropped["purged", default: 0] += dropped.count } }
        guard !underWay.isEmpty else { return }
        // Each write has a deadline of its own.
        await queue.settle { _ in true }
        try await delete(underWay.map(\.name))
    }

    package func remove(_ selection: CacheSelection, dryRun: Bool) async throws(CacheError) -> CacheRemoval {
        let dropped = await settle(dropping: dryRun ? nil : selection)
        var removal = dropped.reduce(CacheRemoval()) { $0 + CacheRemoval(entries: 1, bytes: $1.bytes) }
        // Each counts once, even if an older one is in the store.
        let counted = Set(dropped.map { ExactText($0.name) })
        switch selection {
        case .all:
            removal = removal + (try await remove(below: names.everyVersion, counted, dryRun: dryRun))
        case .tag(let tag):
            if let prefix = names.entries(with: tag) {
                removal = removal + (try await remove(below: prefix, counted, dryRun: dryRun))
            }
            removal = removal + (try await remove(markedWith: tag, counted, dryRun: dryRun))
        case .expired:
            try await forEachPage(below: names.version) { page throws(CacheError) in
                let now = clock.now
                let found = try await readings(of: page) { $0.content?.header.isAlive(at: now) == false }.filter(\.found)
                if !dryRun { try await delete(found.map(\.item.name)) }
                removal = found.reduce(removal) { $0 + CacheRemoval(entries: 1, bytes: $1.item.bytes) }
            }
        }
        return removal
    }

    /// Drops matching queued writes and waits for those in progress. Other entries delay no removal, because each server waits for this
    /// one to announce it.
    /// - Parameter selection: the entries to remove. `nil` waits for a while until all queued writes are in the store.
    /// - Returns: the dropped writes.
    private func settle(dropping selection: CacheSelection?) async -> [SharedWrite] {
        let isConcerned: @Sendable (SharedWrite) -> Bool
        switch selection {
        case nil, .expired:
            _ = await withTimeoutAbandoning(settings.flushDeadline) { [queue] in await queue.flush() }
            return []
        case .all: isConcerned = { _ in true }
        case .tag(let tag):
            let prefix = names.entries(with: tag)
            isConcerned = { item in
                item.entry.tags.contains(tag) || prefix.map { item.name.starts(withBytesOf: $0) } ?? false
            }
        }
        let dropped = queue.drop(where: isConcerned)
        // Each write has a deadline of its own.
        await queue.settle(where: isConcerned)
        return dropped
    }

    /// - Parameter counted: the names that are counted already.
    private func remove(
        below prefix: String, _ counted: Set<ExactText>, dryRun: Bool
    ) async throws(CacheError) -> CacheRemoval {
        var removal = CacheRemoval()
        try await forEachPage(below: prefix) { page throws(CacheError) in
            if !dryRun { try await delete(page.map(\.name)) }
            for item in page where !names.isMarker(item.name) && !counted.contains(ExactText(item.name)) {
                removal = removal + CacheRemoval(entries: 1, bytes: item.bytes)
            }
        }
        return removal
    }

    /// An entry may have lost the tag since it was marked, so each is read.
    private func remove(
        markedWith tag: CacheTag, _ counted: Set<ExactText>, dryRun: Bool
    ) async throws(CacheError) -> CacheRemoval {
        var removal = CacheRemoval()
        try await forEachPage(below: names.marker(of: tag)) { page throws(CacheError) in
            let marked = page.compactMap { marker in
                names.entry(ofMarker: marker.name).map { ObjectListing.Item(name: $0, bytes: 0) }
            }
            // The bytes of an entry that has the tag.
            let found = try await readings(of: marked) { reading in
                reading.content.flatMap { $0.entry.tags.contains(tag) ? $0.header.length + $0.header.bodyLength : nil }
            }.filter { $0.found != nil }
            // The entries first: a marker without its entry harms nothing.
            if !dryRun {
                try await delete(found.map(\.item.name))
                try await delete(found.map { names.marker(of: tag, for: $0.item.name) })
            }
            for (item, bytes) in found where !counted.contains(ExactText(item.name)) {
                removal = removal + CacheRemoval(entries: 1, bytes: bytes ?? 0)
            }
        }
        return removal
    }

    package func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async throws(CacheError) {
        _ = await settle(dropping: nil)
        try await forEachPage(below: names.version) { page throws(CacheError) in
            for (_, key) in try await readings(of: page, { $0.content?.header.key }) { key.map(visit) }
        }
    }

    /// The entries in the store, without reading them.
    /// - Parameter sources: the names of the sources to tell apart. Entries of others count under the empty name.
    package func held(sources: [String]) async throws(CacheError) -> CacheStatistics {
        let known = Dictionary(sources.map { (names.entries(ofSource: $0), $0) }) { first, _ in first }
        var figures: [String: CacheFigures] = [:]
        try await forEachPage(below: names.version) { page throws(CacheError) in
            for item in page where !names.isMarker(item.name) {
                let below = String(item.name.prefix(names.version.count + 9))
                var one = CacheFigures()
                (one.entries, one.bytes) = (1, item.bytes)
                figures[known[below] ?? "", default: CacheFigures()] = figures[known[below] ?? "", default: CacheFigures()] + one
            }
        }
        return CacheStatistics(sources: figures)
    }

    /// Reads and checks every entry.
    /// - Parameter repair: whether to delete damaged ones.
    package func verify(repair: Bool) async throws(CacheError) -> SharedVerification {
        var found = SharedVerification()
        try await forEachPage(below: names.version) { page throws(CacheError) in
            var damaged: [String] = []
            // Whether it is damaged; `nil` if it has gone.
            let verdicts = try await readings(of: page) { reading -> Bool? in
                switch reading {
                case .absent: nil
                case .damaged: true
                case .entry, .expired, .purged: false
                }
            }
            for (item, isDamaged) in verdicts {
                guard let isDamaged else { continue }
                if isDamaged {
                    damaged.append(item.name)
                } else {
                    found.whole += 1
                    found.bytes = found.bytes.addingSaturating(item.bytes)
                }
            }
            found.damaged += damaged.count
            if repair { try await delete(damaged) }
        }
        found.isRepaired = repair
        return found
    }

    // MARK: Parts of the store

    func forEachPage(
        below prefix: String, _ body: ([ObjectListing.Item]) async throws(CacheError) -> Void
    ) async throws(CacheError) {
        var last: String?
        var hasMore = true
        while hasMore {
            let listing: ObjectListing
            do throws(StoreCalls.Failure) {
                listing = try await calls.call(.list, isRequest: false, outcome: { _ in "listed" }) {
                    [store, last] () async throws(StoreError) in
                    try await store.list(prefix: prefix, after: last, limit: SharedSettings.page)
                }
            } catch {
                throw error.cacheError("list")
            }
            try await body(listing.items)
            // A store whose pages do not go on would never end.
            guard let end = listing.items.last?.name, last.map({ ExactText($0) < ExactText(end) }) ?? true else { return }
            (last, hasMore) = (end, listing.hasMore)
        }
    }

    /// Reads the entries of a page, eight at a time. Skips markers and other names that are not entries'.
    /// - Parameter find: what is kept of an entry: a page of them would fill the memory.
    private func readings<Found: Sendable>(
        of page: [ObjectListing.Item], _ find: @escaping @Sendable (Reading<SharedObject>) -> Found
    ) async throws(CacheError) -> [(item: ObjectListing.Item, found: Found)] {
        let wanted = page.compactMap { item in
            names.isMarker(item.name) ? nil : SharedNames.entryName(in: item.name).map { (item: item, digest: $0) }
        }
        var readings: [(item: ObjectListing.Item, found: Found)] = []
        for start in stride(from: 0, to: wanted.count, by: 8) {
            let results = await withTaskGroup(of: (ObjectListing.Item, Result<Found, StoreCalls.Failure>).self) {
                group in
                for (item, digest) in wanted[start..<min(start + 8, wanted.count)] {
                    group.addTask { [self] in
                        do throws(StoreCalls.Failure) {
                            return (item, .success(find(try await read(item.name, digest, isRequest: false))))
                        } catch {
                            return (item, .failure(error))
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for (item, result) in results {
                switch result {
                case .success(let found): readings.append((item, found))
                case .failure(let failure): throw failure.cacheError("read")
                }
            }
        }
        return readings
    }

    private func delete(_ names: [String]) async throws(CacheError) {
        guard !names.isEmpty else { return }
        do throws(StoreCalls.Failure) {
            try await calls.call(.delete, isRequest: false, outcome: { "deleted" }) { [store] () async throws(StoreError) in
                try await store.delete(names)
            }
        } catch {
            throw error.cacheError("delete")
        }
    }
}

/// The result of checking every entry of the shared tier.
package struct SharedVerification: Sendable, Equatable, Codable {
    package var whole = 0
    package var bytes = 0
    /// Objects that are no intact entries.
    package var damaged = 0
    /// Whether the damaged ones were deleted.
    package var isRepaired = false

    package init() {}

    package var isClean: Bool { damaged == 0 }
}
