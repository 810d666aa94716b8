import FoundationEssentials
import Logging
import OnesheetCache
import OnesheetCore
import Synchronization

/// The facts about posters in the cache.
final class PosterFactsStorage: Sendable {
    private let storage: TypedStorage<JSONCached<PosterFacts>>
    private let lifetime: CacheExpiration
    private let cache: Cache
    private let clock: WallClock
    private var logger: Logger { cache.logger }
    /// How often facts about posters of each source in lists have changed here.
    private let changes = Mutex<[String: Int]>([:])

    init(in cache: Cache, lifetime: CacheExpiration, clock: WallClock) {
        self.lifetime = lifetime
        self.cache = cache
        self.clock = clock
        storage = TypedStorage(
            "poster", in: cache, clock: clock, areSmall: true, keeping: 256 << 10, reading: { .forSmallEntries })
    }

    /// The known facts about the image of a title of `source`.
    func facts(of image: ImageReference, from source: (any ContentSource)?) async -> PosterFacts? {
        await storage.value(forKey: image.description, isShared: Self.isShared(from: source))?.value
    }

    /// The version of all facts about posters of `source`. Facts that were looked up after it may be newer.
    func version(of source: String) async -> PosterFactsVersion {
        let changes = changes.withLock { $0[source, default: 0] }
        return PosterFactsVersion(changes: changes, generation: await cache.generation(), time: clock.now)
    }

    /// Stores the facts about the poster that `variant` shows, unless they are known.
    /// - Parameter isNew: whether they are hardly known, so that no tier is asked for them while a client waits.
    func note(_ variant: CacheEntry, of original: Original, isNew: Bool, for fill: Fill) async {
        guard original.isStorable, let new = PosterFacts(variant, of: original.entry) else { return }
        let image = fill.misses[0].request.image
        if !isNew, await facts(of: image, from: fill.source)?.original == new.original { return }
        do {
            try await storage.store(
                JSONCached(new), forKey: image.description, expiration: lifetime,
                tags: image.tags, ifGeneration: fill.generation,
                isShared: Self.isShared(from: fill.source))
            // Afterwards, so that who knows the new version finds the new facts. Others have no lists.
            if Self.isShared(from: fill.source) { changes.withLock { $0[image.title.source, default: 0] += 1 } }
        } catch {
            logger.warning("a poster's facts cannot be stored: \(error)", metadata: ["title": "\(shown(image.title))"])
        }
    }

    /// Whether all servers share the facts about a title's poster, because a list on any of them may show the title. Each server keeps the
    /// facts about a picture outside of lists for itself.
    private static func isShared(from source: (any ContentSource)?) -> Bool {
        guard let capabilities = source?.capabilities else { return true }
        return capabilities.hasLists || capabilities.searches
    }
}

/// The version of the facts about posters that a document shows. The server makes the document again only if the facts may have changed.
package struct PosterFactsVersion: Sendable {
    /// The seconds after which facts are looked up again: other servers and commands may have stored some, and some may have expired.
    static let validity = 10.0

    let changes: Int
    let generation: CacheGeneration
    let time: Date

    /// Whether nothing is known to have changed since `earlier`.
    package func isSame(as earlier: Self) -> Bool {
        // Of two at once, either may be the earlier one.
        let age = time.timeIntervalSince(earlier.time).magnitude
        return changes == earlier.changes && generation == earlier.generation && age < Self.validity
    }
}
