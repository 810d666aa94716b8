import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import Synchronization

/// Finds the titles in the cache that show a picture. Posters that their source knows have no stored hash, so it reads every
/// original. For rare actions of the administrator.
struct PictureSearch: Sendable {
    let pipeline: Pipeline
    /// Whether to search the tiers that all servers share. If another server has blocked the picture, that one searches them.
    var includesShared = true

    /// Purges each title whose original shows `picture`, in any size. An unreadable original does not match.
    /// - Throws: also `CacheError.unannounced`, after all titles, if the other servers do not know of all of them yet.
    func purge(_ picture: PerceptualHash) async throws {
        var isAnnounced = true
        for tier in [pipeline.cache.memory] + pipeline.cache.others where includesShared || !(tier is any SharedCacheTier) {
            for (key, title) in try await originals(in: tier) {
                guard let entry = try await tier.entry(for: key) else { continue }
                // One at a time, so it is counted but never refused.
                let original = Original(entry: entry, reservation: pipeline.pool.memory.charge(entry.body.readableBytes))
                guard try await shows(picture, original) else { continue }
                if try await !pipeline.cache.purgeAnnouncing([.tag(.title(title))]) { isAnnounced = false }
            }
        }
        if !isAnnounced { throw CacheError.unannounced }
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

    private func originals(in tier: any CacheTier) async throws -> [(CacheKey, TitleReference)] {
        let found = Found()
        try await tier.forEachKey { key in
            guard key.kind == .original, let title = TitleReference(written: key.text) else { return }
            found.keys.withLock { $0.append((key, title)) }
        }
        return found.keys.withLock { $0 }
    }

    private final class Found: Sendable {
        let keys = Mutex<[(CacheKey, TitleReference)]>([])
    }
}
