import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import Synchronization

/// Finds the titles in the cache that show one of some pictures. It reads every original, because posters that their source knows have no
/// stored hash, and every variant without a cached original. For rare actions of the administrator.
struct PictureSearch: Sendable {
    let pipeline: Pipeline
    /// Whether to search the tier of all servers. If another server has blocked a picture, that one searches them.
    var includesShared = true

    /// Purges each title that shows one of `pictures`. An unreadable entry shows none, and neither does a variant without its original that
    /// is cropped or turned.
    /// - Returns: what is left to do elsewhere.
    func purge(_ pictures: [PerceptualHash]) async throws -> UnfinishedPurge? {
        var rest: UnfinishedPurge?
        var originals = Set<ExactText>()
        let tiers = pipeline.cache.tiers(includingShared: includesShared)
        for tier in tiers {
            for key in try await keys(in: tier, where: { $0.kind == .original }) {
                originals.insert(ExactText(key.text))
                rest = try await purgeTitle(of: key, in: tier, ifItShows: pictures) ?? rest
            }
        }
        let known = originals
        for tier in tiers {
            let orphans = try await keys(in: tier, where: { ImageRequest.isVariant($0, withoutAny: known) })
            for key in orphans { rest = try await purgeTitle(of: key, in: tier, ifItShows: pictures) ?? rest }
        }
        return rest
    }

    private func purgeTitle(
        of key: CacheKey, in tier: any CacheTier, ifItShows pictures: [PerceptualHash]
    ) async throws -> UnfinishedPurge? {
        // One at a time, so it is counted but never refused.
        let memory = ReadingMemory(charging: pipeline.pool.memory)
        guard let head = try await tier.head(of: key, into: memory), let title = head.entry.tags.lazy.compactMap(\.title).first,
            let hash = try await hash(of: key, head, in: tier, into: memory), pictures.contains(where: hash.isSamePicture)
        else { return nil }
        return try await pipeline.cache.purge([.tag(.title(title))]).rest
    }

    /// The hash of the entry with this head. Reads the entry only if the hash is not known.
    private func hash(
        of key: CacheKey, _ head: CacheHead, in tier: any CacheTier, into memory: ReadingMemory
    ) async throws -> PerceptualHash? {
        if let known = pipeline.originals.knownHash(of: head.entry) { return known }
        guard let entry = try await tier.entry(for: key, into: memory) else { return nil }
        return try await hash(of: Original(entry: entry, reservation: memory.reservation))
    }

    /// The hash of `original`; `nil` if it cannot be read.
    /// - Throws: failures that are unrelated to the picture.
    private func hash(of original: Original) async throws(Failure) -> PerceptualHash? {
        do {
            return try await pipeline.originals.hash(of: original)
        } catch {
            if !error.isOurs { return nil }
            throw error
        }
    }

    private func keys(
        in tier: any CacheTier, where isIncluded: @escaping @Sendable (CacheKey) -> Bool
    ) async throws -> [CacheKey] {
        let found = Found()
        try await tier.forEachKey { key in
            if isIncluded(key) { found.keys.withLock { $0.append(key) } }
        }
        return found.keys.withLock { $0 }
    }

    private final class Found: Sendable {
        let keys = Mutex<[CacheKey]>([])
    }
}
