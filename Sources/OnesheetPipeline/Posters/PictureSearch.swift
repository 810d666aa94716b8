import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import Synchronization

/// Finds the titles in the cache that show a picture. Posters that their source knows have no stored hash, so it reads every original, and
/// every variant whose original is not in the cache any more. For rare actions of the administrator.
struct PictureSearch: Sendable {
    let pipeline: Pipeline
    /// Whether to search the tiers that all servers share. If another server has blocked the picture, that one searches them.
    var includesShared = true

    /// Purges each title that shows `picture`, in any size. An unreadable entry does not match.
    /// - Returns: whether the other servers know of it. If not, they are told later.
    func purge(_ picture: PerceptualHash) async throws -> Bool {
        var isAnnounced = true
        var originals = Set<ExactText>()
        let tiers = ([pipeline.cache.memory] + pipeline.cache.others).filter { includesShared || !($0 is any SharedCacheTier) }
        for tier in tiers {
            for key in try await keys(in: tier, where: { $0.kind == .original }) {
                originals.insert(ExactText(key.text))
                if try await !purge(key, in: tier, showing: picture) { isAnnounced = false }
            }
        }
        let known = originals
        for tier in tiers {
            for key in try await keys(in: tier, where: { $0.kind == .variant && !Self.isVariant($0, ofAny: known) }) {
                if try await !purge(key, in: tier, showing: picture) { isAnnounced = false }
            }
        }
        return isAnnounced
    }

    /// Whether `key` belongs to a variant of one of `originals`. Its text is that of the original, `#`, and the transform; an id may have
    /// that character, too.
    private static func isVariant(_ key: CacheKey, ofAny originals: Set<ExactText>) -> Bool {
        let text = key.text
        return text.utf8.indices.contains { index in
            text.utf8[index] == UInt8(ascii: "#") && originals.contains(ExactText(text[..<index]))
        }
    }

    /// Purges the title of an entry that shows `picture`.
    /// - Returns: `false` if the other servers are still to be told.
    private func purge(_ key: CacheKey, in tier: any CacheTier, showing picture: PerceptualHash) async throws -> Bool {
        guard let entry = try await tier.entry(for: key), let title = entry.tags.lazy.compactMap(\.title).first else { return true }
        // One at a time, so it is counted but never refused.
        let file = Original(entry: entry, reservation: pipeline.pool.memory.charge(entry.body.readableBytes))
        guard try await shows(picture, file) else { return true }
        return try await pipeline.cache.purge([.tag(.title(title))]).rest != .unannounced
    }

    /// Whether `original` shows `picture`; `false` if it cannot be read.
    /// - Throws: failures that are unrelated to the picture.
    private func shows(_ picture: PerceptualHash, _ original: Original) async throws(PipelineError) -> Bool {
        do {
            return try await pipeline.originals.hash(of: original).isSamePicture(as: picture)
        } catch {
            if case .render = error, !error.isOurs { return false }
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
